package kfs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// maxList bounds what List makes of one range, so that a damaged file cannot ask for
// gigabytes. The largest Linux machines have 8192 logical CPUs.
const maxList = 1 << 16

// Text gives the content of a file without surrounding white space.
func Text(root fs.FS, path string) (string, error) {
	b, err := fs.ReadFile(root, path)
	if err != nil {
		return "", fmt.Errorf("reading /%s: %w", path, cause(err))
	}
	return strings.TrimSpace(string(b)), nil
}

// Int reads a file that holds one decimal number.
func Int(root fs.FS, path string) (int64, error) {
	s, err := Text(root, path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading /%s: %w", path, cause(err))
	}
	return n, nil
}

// Exists reports whether there is a file or folder at path.
func Exists(root fs.FS, path string) bool {
	_, err := fs.Stat(root, path)
	return err == nil
}

// List parses a list of CPU numbers as the kernel prints it, "0-3,8,10-11", into
// ascending numbers. The empty list is legal.
func List(s string) ([]int, error) {
	var list []int
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.ParseUint(first, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("list %q: %w", s, cause(err))
		}
		b := a
		if ranged {
			if b, err = strconv.ParseUint(last, 10, 31); err != nil {
				return nil, fmt.Errorf("list %q: %w", s, cause(err))
			}
		}
		if b < a || b-a >= maxList || len(list) >= maxList {
			return nil, fmt.Errorf("list %q: bad range %s", s, part)
		}
		for n := a; n <= b; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// cause takes the operation and the path, or the number's text, off an error: the
// caller names the file.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var num *strconv.NumError
	if errors.As(err, &num) {
		return fmt.Errorf("%q is not a number", num.Num)
	}
	return err
}
