package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"

	"github.com/tenantry/tenantry/internal/settings"
)

// envFile has the settings of a file by the names of their environment variables, in the order of
// names.
type envFile struct {
	names  []string
	values map[string]string
}

func (f *envFile) set(name, value string) {
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
	f.values[name] = value
}

// check returns an error for a value that a line of the file cannot hold.
func (f envFile) check() error {
	for _, name := range f.names {
		if strings.ContainsFunc(f.values[name], unicode.IsControl) {
			return &settings.Error{Name: name, Reason: "must not contain line breaks or control characters"}
		}
	}
	return nil
}

// writeEnvFile writes the answers to a file that only its owner can read. It replaces the file in
// one step.
func writeEnvFile(path string, f envFile) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".tenantry.env-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("--file: %w", err), os.Remove(file.Name()))
		}
	}()
	for _, name := range f.names {
		if f.values[name] == "" {
			continue
		}
		if _, err := fmt.Fprintf(file, "%s=%s\n", name, quoteEnv(f.values[name])); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// quoteEnv quotes a value so that a shell, systemd and Docker Compose read it alike.
func quoteEnv(value string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,="
	if value != "" && strings.Trim(value, plain) == "" {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(value) + `"`
}

// prompt asks a question on standard error and returns the line that was entered, without spaces
// around it. A secret is not shown if standard input is a terminal.
func prompt(p *process, text, fallback string, isSecret bool) (string, error) {
	if fallback != "" {
		text += " [" + fallback + "]"
	}
	if isSecret && term.IsTerminal(int(p.in.Fd())) {
		line, err := readHidden(p, text+": ")
		return strings.TrimSpace(line.Reveal()), err
	}
	_, _ = fmt.Fprint(p.err, text+": ")
	line, err := readLine(p.in)
	if line = strings.TrimSpace(line); line == "" && err == nil {
		line = fallback
	}
	return line, err
}

// readLine reads a line without reading beyond it, because readHidden reads from the same file. It
// returns an error at the end of the file.
func readLine(in io.Reader) (string, error) {
	var line []byte
	var one [1]byte
	for {
		n, err := in.Read(one[:])
		switch {
		case n == 1 && one[0] == '\n', errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case n == 1:
			line = append(line, one[0])
		case errors.Is(err, io.EOF):
			return "", errors.New("no answer: standard input ended")
		case err != nil:
			return "", err
		}
	}
}
