// Command image writes an OCI image archive from static programs, without a container engine:
//
//	image -version 0.1.0 -revision COMMIT -created TIME -output tenantry.oci.tar FOLDER linux/amd64 …
//
// FOLDER has the programs of the platforms, LICENSE and NOTICE, as scripts/release leaves them. Equal
// arguments and files give equal bytes.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// repository is the repository of the image, as in deploy/helm/tenantry/values.yaml.
const repository = "ghcr.io/tenantry/tenantry"

// release describes the programs of a release.
type release struct {
	version, revision string
	created           time.Time
	folder            string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var r release
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "", "`version` of the release, without v")
	flags.StringVar(&r.revision, "revision", "", "`commit` of the release")
	created := flags.String("created", "", "`time` of the commit, RFC 3339")
	output := flags.String("output", "", "`file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if r.version == "" || *output == "" || flags.NArg() < 2 {
		return errors.New("-version, -output, a folder and a platform are required")
	}
	var err error
	if r.created, err = time.Parse(time.RFC3339, *created); err != nil {
		return fmt.Errorf("-created: %w", err)
	}
	r.folder = flags.Arg(0)
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range flags.Args()[1:] {
		img, at, err := r.image(platform)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: at}})
	}
	return r.write(index, *output)
}

// image returns the image of a platform, such as linux/amd64.
func (r release) image(name string) (v1.Image, *v1.Platform, error) {
	platform, err := v1.ParsePlatform(name)
	if err != nil {
		return nil, nil, err
	}
	content, err := r.layer(platform)
	if err != nil {
		return nil, nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: r.created}, CreatedBy: "tools/image"},
	})
	if err != nil {
		return nil, nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, v1.Time{Time: r.created}
	config.Config = r.config()
	img, err = mutate.ConfigFile(img, config)
	return img, platform, err
}

// config returns the settings of containers, which equal the settings in deploy/docker/Dockerfile.
func (r release) config() v1.Config {
	return v1.Config{
		User:         "65532:65532",
		Env:          []string{"TENANTRY_ADDR=0.0.0.0:8080", "TENANTRY_METRICS_ADDR=0.0.0.0:9090", "TENANTRY_DATA=/data"},
		Entrypoint:   []string{"/tenantry"},
		Cmd:          []string{"serve"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/tenantry", "health"}, Interval: 10 * time.Second, Timeout: 4 * time.Second, StartPeriod: 30 * time.Second,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "tenantry",
			"org.opencontainers.image.description": "Self-hosted backend for multi-tenant subscription software",
			"org.opencontainers.image.source":      "https://github.com/tenantry/tenantry",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.revision":    r.revision,
			"org.opencontainers.image.created":     r.created.UTC().Format(time.RFC3339),
		},
	}
}

// write writes an index as an archive of an OCI image layout. The name of the image is repository and
// the version.
func (r release) write(index v1.ImageIndex, output string) error {
	folder, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err == nil {
		name := repository + ":" + r.version
		err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": name, // read by Podman and skopeo
			"io.containerd.image.name":          name, // read by Docker and containerd
		}))
	}
	if err != nil {
		return err
	}
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	files := os.DirFS(folder)
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error { // in lexical order
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return writeEntry(archive, tar.Header{Name: name, Mode: 0o644, ModTime: r.created}, content)
	})
	if err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return file.Close()
}
