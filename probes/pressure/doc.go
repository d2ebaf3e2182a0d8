// Package pressure reads what keeps a process from the processor and from running it at
// full speed: tasks that wait (pressure stall information), the CPU limit of the own
// control group, and heat.
//
// probes/host calls it. Pressure and heat are the whole computer's, in a container too; the
// limit is the own group's and that of the groups above it, as far as they can be seen
// from here. It draws no conclusions and changes nothing.
package pressure
