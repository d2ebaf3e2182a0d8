package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// userHz is the unit of times in /proc: USER_HZ is 100 on every architecture Go runs on.
const userHz = 100

// taskStat is what is used of one line of /proc/PID/stat or /proc/PID/task/TID/stat;
// proc(5) numbers the columns from 1.
type taskStat struct {
	name   []byte // column 2, without its parentheses; part of the line that was parsed
	user   time.Duration
	system time.Duration
	core   int
}

var errTaskStat = errors.New("not a line of /proc/PID/stat")

// parseTaskStat reads a line without allocating. The name is the program's own choice
// and may hold spaces, parentheses and digits, so it ends at the last parenthesis.
func parseTaskStat(line []byte) (taskStat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return taskStat{}, errTaskStat
	}
	s := taskStat{name: line[open+1 : end]}
	rest := line[end+1:]
	for column := 3; column <= 39; column++ {
		var word []byte
		word, rest = nextWord(rest)
		var n uint64
		var ok bool
		switch column {
		case 14, 15, 39:
			if n, ok = number(word); !ok {
				return taskStat{}, fmt.Errorf("column %d is %q: %w", column, word, errTaskStat)
			}
		}
		switch column {
		case 14:
			s.user = time.Duration(n) * (time.Second / userHz)
		case 15:
			s.system = time.Duration(n) * (time.Second / userHz)
		case 39:
			s.core = int(n)
		}
	}
	return s, nil
}

func nextWord(b []byte) (word, rest []byte) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n') {
		b = b[1:]
	}
	for i, c := range b {
		if c == ' ' || c == '\n' {
			return b[:i], b[i:]
		}
	}
	return b, nil
}

// maxTicks keeps times within a time.Duration: 29 years on one core.
const maxTicks = uint64(1<<63-1) / uint64(time.Second/userHz) / 10

func number(word []byte) (n uint64, ok bool) {
	if len(word) == 0 {
		return 0, false
	}
	for _, c := range word {
		if c < '0' || c > '9' || n > maxTicks/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}
