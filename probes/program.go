package probes

// Program is a running program of this computer.
type Program struct {
	Name string `json:"name"` // as the kernel keeps it, at most 15 bytes: "sshd", "docker-proxy"
	PID  int    `json:"pid"`
}
