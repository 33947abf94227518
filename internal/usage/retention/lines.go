package retention

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// lines is a compressed file of JSON lines. It gets its final name only after its contents are on
// disk. After dbfile.SyncFolder the name is on disk, too.
type lines struct {
	path string
	file *os.File // at path plus ".tmp"
	zip  *gzip.Writer
	json *json.Encoder
	kept bool
}

func createLines(path string) (*lines, error) {
	file, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write archive: %w", err)
	}
	zip := gzip.NewWriter(file)
	encoder := json.NewEncoder(zip)
	encoder.SetEscapeHTML(false)
	return &lines{path: path, file: file, zip: zip, json: encoder}, nil
}

func (l *lines) write(v any) error {
	if err := l.json.Encode(v); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// commit writes everything to disk and then renames the file to its final name.
func (l *lines) commit() error {
	if err := errors.Join(l.zip.Close(), l.file.Sync(), l.file.Close()); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := os.Rename(l.path+".tmp", l.path); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	l.kept = true
	return nil
}

// discard deletes the file unless commit has succeeded.
func (l *lines) discard() {
	if !l.kept {
		_ = l.file.Close()
		_ = os.Remove(l.path + ".tmp")
	}
}

// readLines calls read for every line of a file. The line is only valid until read returns.
// readLines returns an error if the file is truncated or modified.
func readLines(path string, read func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("read archive %s: %w", path, err)
	}
	reader := bufio.NewReaderSize(zip, 64<<10)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read archive %s: %w", path, err)
		}
		if err := read(line); err != nil {
			return err
		}
	}
}
