package guides

import (
	"bytes"
	"os"
	"path/filepath"
)

// Write writes the site to a directory. description is the file with the OpenAPI description.
func (s *Site) Write(folder, description string) error {
	files, err := s.build()
	if err != nil {
		return err
	}
	described, err := os.ReadFile(description)
	if err != nil {
		return err
	}
	for name, f := range files {
		switch name {
		case "api":
			name = "api.html"
			f.content = bytes.ReplaceAll(f.content, []byte(`href="./"`), []byte(`href="index.html"`))
			f.content = bytes.ReplaceAll(f.content, []byte("../openapi.json"), []byte("openapi.yaml"))
		case "api/init.js":
			f.content = bytes.ReplaceAll(f.content, []byte("../openapi.json"), []byte("openapi.yaml"))
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
