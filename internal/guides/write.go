package guides

import (
	"os"
	"path/filepath"
)

// Write writes the site and the OpenAPI document to a directory.
func (s *Site) Write(folder string) error {
	files, err := s.build()
	if err != nil {
		return err
	}
	described, err := s.config.Description()
	if err != nil {
		return err
	}
	for name, f := range files {
		if f.render != nil {
			if f.content, err = f.render(); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(folder, filepath.FromSlash(name)), f.content); err != nil {
			return err
		}
	}
	return write(filepath.Join(folder, "openapi.yaml"), described)
}

func write(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // The guides are public.
		return err
	}
	return os.WriteFile(name, content, 0o644) //nolint:gosec // The guides are public.
}
