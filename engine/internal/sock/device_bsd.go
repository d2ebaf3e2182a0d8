//go:build dragonfly || freebsd || netbsd || openbsd

package sock

func bindDevice(int, string) error { return unsupported("--bind-dev") }
