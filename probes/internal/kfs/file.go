package kfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// File is a file that is read again and again. It holds on to its buffer, and to the
// open file where that is asked for: reading a counter file of /proc anew takes a
// quarter of the time that opening, reading and closing it takes, and allocates nothing.
// It is not safe for concurrent use.
type File struct {
	root fs.FS
	path string
	keep bool
	open fs.File
	buf  []byte
}

// Keep prepares to read path below root. keep leaves the file open between reads; a
// fixture whose files are replaced must be opened every time.
func Keep(root fs.FS, path string, keep bool) *File {
	return &File{root: root, path: path, keep: keep}
}

// Path is the file's path below its root.
func (f *File) Path() string { return f.path }

// Read gives the whole content as it is now. The bytes are good until the next Read.
func (f *File) Read() ([]byte, error) {
	kept := f.open != nil
	content, err := f.read()
	if err != nil && kept {
		// What was open is gone, as the files of a removed control group are; there may be
		// another one of the same name.
		content, err = f.read()
	}
	if err != nil {
		return nil, Error(f.path, err)
	}
	return content, nil
}

func (f *File) read() ([]byte, error) {
	if f.open == nil {
		file, err := f.root.Open(f.path)
		if err != nil {
			return nil, err
		}
		f.open = file
	}
	content, err := f.content()
	if err != nil || !f.keep {
		f.Close()
	}
	return content, err
}

// content reads from the start, whatever was read before.
func (f *File) content() ([]byte, error) {
	at, ok := f.open.(io.ReaderAt)
	if !ok {
		return nil, errors.New("not a file to read at an offset")
	}
	if f.buf == nil {
		f.buf = make([]byte, 4096)
	}
	n := 0
	for {
		m, err := at.ReadAt(f.buf[n:], int64(n))
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return f.buf[:n], nil
		case err != nil:
			return nil, err
		case n >= maxFile:
			return nil, fmt.Errorf("larger than %d bytes", maxFile)
		case n == len(f.buf):
			f.buf = append(f.buf, make([]byte, len(f.buf))...)
		}
	}
}

// maxFile bounds the buffer. The largest file that probes read whole is /proc/interrupts:
// 12 MB with 1024 cores and 1000 interrupts.
const maxFile = 64 << 20

// Close closes the file if it is open; File can still be used.
func (f *File) Close() {
	if f.open != nil {
		f.open.Close()
		f.open = nil
	}
}

// Error is how this package words what went wrong with a file: "reading /proc/x:
// file does not exist", for readers that opened it by other means. It keeps the cause.
func Error(path string, err error) error {
	return fmt.Errorf("reading /%s: %w", path, cause(err))
}
