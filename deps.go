//go:build deps

package deps
import (
 _ "github.com/charmbracelet/bubbletea"
 _ "github.com/charmbracelet/lipgloss"
 _ "github.com/shirou/gopsutil/v3/cpu"
 _ "github.com/guptarohit/asciigraph"
 _ "github.com/charmbracelet/bubbles/key"
 _ "github.com/spf13/cobra"
 _ "golang.org/x/sys/unix"
 _ "golang.org/x/sync/errgroup"
 _ "github.com/prometheus/procfs"
 _ "github.com/vishvananda/netlink"
 _ "github.com/safchain/ethtool"
 _ "github.com/google/renameio/v2"
 _ "github.com/adrg/xdg"
 _ "github.com/rogpeppe/go-internal/testscript"
 _ "github.com/google/go-cmp/cmp"
 _ "github.com/charmbracelet/x/exp/teatest"
 _ "github.com/muesli/termenv"
 _ "github.com/charmbracelet/x/term"
)
