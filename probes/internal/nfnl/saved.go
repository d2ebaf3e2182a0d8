package nfnl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// SavedFile is the name, at the root of a fixture tree, of the JSON file that holds what
// a real kernel tells of its packet filters; see [Saved].
const SavedFile = "netfilter.json"

// Saved is the content of [SavedFile]. It answers like [Kernel].
type Saved struct {
	Denied bool    `json:"denied,omitempty"` // to a process without CAP_NET_ADMIN
	Tables Ruleset `json:"nf_tables"`
	// Old has the tables of ip_tables by name, with "6/" in front for ip6_tables.
	Old map[string]Ruleset `json:"ip_tables,omitempty"`
}

// ReadSaved reads [SavedFile] from the root of a fixture tree. Without the file nothing
// is filtered.
func ReadSaved(root fs.FS) (*Saved, error) {
	s := new(Saved)
	text, err := fs.ReadFile(root, SavedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", SavedFile, err)
	}
	return s, nil
}

// NFTables gives the saved chains and rules of nf_tables.
func (s *Saved) NFTables(context.Context) (Ruleset, error) {
	if s.Denied {
		return Ruleset{}, errDenied
	}
	return s.Tables, nil
}

// Legacy gives a saved table of ip_tables.
func (s *Saved) Legacy(table string, v6 bool) (Ruleset, error) {
	if s.Denied {
		return Ruleset{}, errDenied
	}
	key := table
	if v6 {
		key = "6/" + table
	}
	r, ok := s.Old[key]
	if !ok {
		return Ruleset{}, legacyError(table, v6, fs.ErrNotExist)
	}
	return r, nil
}
