package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/tenantry/tenantry/internal/settings"
)

// envFile has the settings of a file by the names of their environment variables, in the order of
// names.
type envFile struct {
	names  []string
	values map[string]string
}

// environ returns the settings in the form of os.Environ.
func (f envFile) environ() (all []string) {
	for _, name := range f.names {
		all = append(all, name+"="+f.values[name])
	}
	return all
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

// writeEnvFile writes the settings to a file that only its owner can read. It replaces the file in
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
