package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the ID of the user and group that containers run as.
const user = 65532

// layer returns the files of a container as a tar archive: the program, certificates, licenses, and
// folders for data and temporary files. The program contains the time zones.
func (r release) layer(platform *v1.Platform) ([]byte, error) {
	program, err := os.ReadFile(filepath.Join(r.folder, "tenantry-"+platform.OS+"-"+platform.Architecture))
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(r.folder, "LICENSE"))
	if err != nil {
		return nil, err
	}
	notice, err := os.ReadFile(filepath.Join(r.folder, "NOTICE"))
	if err != nil {
		return nil, err
	}
	passwd := "root:x:0:0:root:/:/sbin/nologin\ntenantry:x:65532:65532:tenantry:/data:/sbin/nologin\n"
	entries := []struct {
		tar.Header

		content []byte
	}{
		{Header: tar.Header{Name: "data/", Mode: 0o700, Uid: user, Gid: user}},
		{Header: tar.Header{Name: "etc/", Mode: 0o755}},
		{tar.Header{Name: "etc/group", Mode: 0o644}, []byte("root:x:0:\ntenantry:x:65532:\n")},
		{tar.Header{Name: "etc/passwd", Mode: 0o644}, []byte(passwd)},
		{Header: tar.Header{Name: "etc/ssl/", Mode: 0o755}},
		{Header: tar.Header{Name: "etc/ssl/certs/", Mode: 0o755}},
		{tar.Header{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, certificates()},
		{Header: tar.Header{Name: "licenses/", Mode: 0o755}},
		{tar.Header{Name: "licenses/LICENSE", Mode: 0o644}, license},
		{tar.Header{Name: "licenses/NOTICE", Mode: 0o644}, notice},
		{tar.Header{Name: "tenantry", Mode: 0o755}, program},
		{Header: tar.Header{Name: "tmp/", Mode: 0o1777}},
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	for _, e := range entries {
		e.ModTime = r.created
		if err := writeEntry(archive, e.Header, e.content); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), archive.Close()
}

// certificates returns the roots that Mozilla trusts without restrictions, in PEM.
func certificates() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer accepts everything
		}
	}
	return all.Bytes()
}

func writeEntry(archive *tar.Writer, h tar.Header, content []byte) error {
	h.Typeflag, h.Size = tar.TypeReg, int64(len(content))
	if h.Name[len(h.Name)-1] == '/' {
		h.Typeflag = tar.TypeDir
	}
	if err := archive.WriteHeader(&h); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}
