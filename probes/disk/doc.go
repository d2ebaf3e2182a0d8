// Package disk reads the storage behind a path: which device it is, what kind, how fast its
// bus could be, and how busy all disks are.
//
// probes/host calls it, for tests that read or write a file. It follows a path through
// mounts, partitions and device mapper to the disk, as far as that is visible from here,
// and never touches the file or the disk itself.
package disk
