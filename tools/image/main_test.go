package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// files returns a folder with programs for two platforms.
func files(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"tenantry-linux-amd64", "tenantry-linux-arm64", "LICENSE", "NOTICE"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// unpack writes the files of an archive to a folder.
func unpack(t *testing.T, name, folder string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := tar.NewReader(file)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		path := filepath.Join(folder, filepath.Clean(h.Name))
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// The same files give the same archive. Invalid arguments are errors.
func TestArchive(t *testing.T) {
	t.Parallel()
	folder := files(t)
	var archives [][]byte
	for _, name := range []string{"a.tar", "b.tar"} {
		output := filepath.Join(t.TempDir(), name)
		args := []string{"-version", "0.1.0", "-created", "2026-01-02T03:04:05Z", "-output", output, folder, "linux/amd64", "linux/arm64"}
		if err := run(args); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, content)
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same files differ")
	}
	for name, args := range map[string][]string{
		"no version":  {"-created", "2026-01-02T03:04:05Z", "-output", "x", folder, "linux/amd64"},
		"no time":     {"-version", "1", "-output", "x", folder, "linux/amd64"},
		"no program":  {"-version", "1", "-created", "2026-01-02T03:04:05Z", "-output", filepath.Join(t.TempDir(), "x"), folder, "linux/riscv64"},
		"no platform": {"-version", "1", "-created", "2026-01-02T03:04:05Z", "-output", "x", folder},
	} {
		if run(args) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// An image has its platform, and containers have the settings of the Dockerfile.
func TestConfig(t *testing.T) {
	t.Parallel()
	folder := files(t)
	img, platform, err := release{version: "0.1.0", folder: folder}.image("linux/arm64")
	if err != nil || platform.Architecture != "arm64" {
		t.Fatal(platform, err)
	}
	file, err := img.ConfigFile()
	if err != nil || file.Architecture != "arm64" || file.OS != "linux" {
		t.Fatal(file, err)
	}
	dockerfile, err := os.ReadFile("../../deploy/docker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	ports := []string{}
	for port := range c.ExposedPorts {
		ports = append(ports, strings.TrimSuffix(port, "/tcp"))
	}
	slices.Sort(ports)
	lines := []string{
		"ENV " + strings.Join(c.Env, " "), "USER " + c.User, "VOLUME /data", "EXPOSE " + strings.Join(ports, " "),
		`ENTRYPOINT ["` + c.Entrypoint[0] + `"]`, `CMD ["` + c.Cmd[0] + `"]`,
		`HEALTHCHECK --interval=10s --timeout=4s --start-period=30s CMD ["/tenantry", "health"]`,
	}
	for _, line := range lines {
		if !strings.Contains(string(dockerfile), "\n"+line+"\n") {
			t.Errorf("the Dockerfile does not contain %s", line)
		}
	}
}

// The layout of the archive can be read, and its index refers to the version.
func TestLayout(t *testing.T) {
	t.Parallel()
	folder := files(t)
	output, unpacked := filepath.Join(t.TempDir(), "x.tar"), t.TempDir()
	if err := run([]string{"-version", "0.1.0", "-created", "2026-01-02T03:04:05Z", "-output", output, folder, "linux/amd64"}); err != nil {
		t.Fatal(err)
	}
	unpack(t, output, unpacked)
	index, err := layout.ImageIndexFromPath(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "ghcr.io/tenantry/tenantry:0.1.0" {
		t.Errorf("%v %+v", err, manifest)
	}
}
