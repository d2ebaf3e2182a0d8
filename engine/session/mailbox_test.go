package session

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"linerate/engine"
)

func TestMailboxGivesTheNewest(t *testing.T) {
	m := newMailbox()
	for i := range 500 {
		m.put(&engine.Snapshot{Seq: uint64(i + 1)}) // nobody reads: must not block
	}
	s, err := m.next(t.Context())
	if err != nil || s.Seq != 500 {
		t.Fatalf("after 500 puts: snapshot %v, error %v, want number 500", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := m.next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("the same snapshot again: %v, %v", s, err)
	}
}

func TestMailboxWakesItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMailbox()
		got := make(chan uint64, 10)
		go func() {
			defer close(got)
			for {
				s, err := m.next(t.Context())
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Errorf("at the end: %v, want io.EOF", err)
					}
					return
				}
				got <- s.Seq
			}
		}()
		for i := range 3 {
			time.Sleep(time.Second)
			m.put(&engine.Snapshot{Seq: uint64(i + 1)})
		}
		m.put(&engine.Snapshot{Seq: 4})
		m.close()
		var last uint64
		for seq := range got {
			if seq <= last {
				t.Errorf("snapshot %d after %d", seq, last)
			}
			last = seq
		}
		if last != 4 {
			t.Errorf("the last snapshot read is %d, want 4: closing must not hide it", last)
		}
	})
}
