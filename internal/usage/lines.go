package usage

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// lines is a compressed file of JSON lines that has its name only once all of it
// is on the disk; syncFolder makes the name last as well.
type lines struct {
	path string
	file *os.File // under the path and ".tmp"
	zip  *gzip.Writer
	json *json.Encoder
	kept bool
}

func createLines(path string) (*lines, error) {
	file, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("usage: archive: %w", err)
	}
	zip := gzip.NewWriter(file)
	encoder := json.NewEncoder(zip)
	encoder.SetEscapeHTML(false)
	return &lines{path: path, file: file, zip: zip, json: encoder}, nil
}

func (l *lines) write(v any) error {
	if err := l.json.Encode(v); err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	return nil
}

// keep brings everything to the disk, and then gives the file its name.
func (l *lines) keep() error {
	if err := errors.Join(l.zip.Close(), l.file.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	if err := os.Rename(l.path+".tmp", l.path); err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	l.kept = true
	return nil
}

// syncFolder makes the name of a file last.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	return nil
}

// discard deletes what was not kept.
func (l *lines) discard() {
	if !l.kept {
		_ = l.file.Close()
		_ = os.Remove(l.path + ".tmp")
	}
}

// readLines hands every line of a file to read, whose argument is valid until it
// returns. A file that was cut or changed is an error.
func readLines(path string, read func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("usage: archive: %w", err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("usage: archive %s: %w", path, err)
	}
	reader := bufio.NewReaderSize(zip, 64<<10)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("usage: archive %s: %w", path, err)
		}
		if err := read(line); err != nil {
			return err
		}
	}
}
