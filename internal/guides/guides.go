// Package guides renders the guides in docs as a site: pages with navigation and search, and the
// API reference. The service serves it at /docs, and docs/site writes it to files.
package guides

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tenantry/tenantry/internal/guides/apidoc"
)

//go:embed assets
var assets embed.FS

// Config configures the site.
type Config struct {
	Texts fs.FS // files of the repository, such as the guides in docs
	Fonts fs.FS // the built console, which contains the font; without it the system font is used
	// Description returns the OpenAPI document, in JSON or YAML.
	Description func() ([]byte, error)
	// Files means that a static file server serves the site, so addresses end with ".html".
	Files bool
}

// Site is the site of the guides. It is rendered at the first request.
type Site struct {
	config    Config
	build     func() (map[string]file, error)
	guides    []*page           // set by build
	reference *apidoc.Reference // set by build
}

// file is a file of the site, at an address below /docs/.
type file struct {
	kind    string // content type
	content []byte
	packed  []byte                 // content compressed with gzip; nil if that saves too little
	render  func() ([]byte, error) // returns the content, if it is rendered for each request
	status  int                    // HTTP status; 0 means 200
}

// page is a page of the site.
type page struct {
	Entry    entry
	Section  string
	Address  string // below /docs/, without suffix
	source   []byte
	Title    string // first heading
	Headings []heading
	Body     template.HTML
	passages []passage
	Parent   *page // for a page in a folder: the README of the folder
	children []*page
}

// heading is a heading in the table of contents of a page.
type heading struct {
	Level    int
	ID, Text string
}

// New returns a new Site.
func New(c Config) *Site {
	s := &Site{config: c}
	s.build = sync.OnceValues(s.render)
	return s
}

// address returns the address on the site for a file of the repository.
func address(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md"), "/README")
	switch name {
	case "CHANGELOG":
		return "changelog"
	case "SECURITY":
		return "reporting"
	default:
		return name
	}
}

// pages reads all pages in the order of the navigation.
func (s *Site) pages() ([]*page, error) {
	var all []*page
	for _, section := range order {
		for _, e := range section.entries {
			source, err := fs.ReadFile(s.config.Texts, e.file)
			if err != nil {
				continue // the page does not exist yet
			}
			p := &page{Entry: e, Section: section.Title, Address: address(e.file), source: source}
			all = append(all, p)
			if folder := path.Dir(e.file); slices.Contains(folders, folder) {
				if err := s.readFolder(folder, p); err != nil {
					return nil, err
				}
				all = append(all, p.children...)
			}
		}
	}
	return all, nil
}

func (s *Site) readFolder(folder string, parent *page) error {
	names, err := fs.Glob(s.config.Texts, folder+"/*.md")
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == parent.Entry.file {
			continue
		}
		source, err := fs.ReadFile(s.config.Texts, name)
		if err != nil {
			return err
		}
		title := strings.TrimSpace(strings.TrimPrefix(strings.SplitN(string(source), "\n", 2)[0], "#"))
		parent.children = append(parent.children, &page{
			Entry: entry{file: name, Title: title}, Section: parent.Section, Address: address(name), source: source, Parent: parent,
		})
	}
	return nil
}

// render renders all files of the site.
func (s *Site) render() (map[string]file, error) {
	pages, err := s.pages()
	if err != nil {
		return nil, err
	}
	s.guides = pages
	r := newRenderer(s.config, pages)
	for _, p := range pages {
		if err := r.page(p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Entry.file, err)
		}
	}
	files := map[string]file{}
	if err := s.layOut(files, pages); err != nil {
		return nil, err
	}
	ref, err := s.readReference()
	if err != nil {
		return nil, err
	}
	s.reference = ref
	s.addReference(files, ref)
	index, err := searchIndex(pages, ref, s.config.suffix())
	if err != nil {
		return nil, err
	}
	files["assets/search.json"] = file{kind: kinds[".json"], content: index}
	for _, add := range []func(map[string]file) error{s.addAssets, s.addPictures} {
		if err := add(files); err != nil {
			return nil, err
		}
	}
	for name, f := range files {
		if f.render == nil {
			f.packed = compressContent(f.content)
			files[name] = f
		}
	}
	return files, nil
}

// kinds maps file extensions to content types.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf", ".woff2": "font/woff2",
}

func (s *Site) addAssets(files map[string]file) error {
	for _, name := range []string{"guides.css", "reference.css", "guides.js", "reference.js", "theme.js", "icon.svg"} {
		content, err := fs.ReadFile(assets, "assets/"+name)
		if err != nil {
			return err
		}
		files["assets/"+name] = file{kind: kinds[path.Ext(name)], content: content}
	}
	for _, part := range []string{"latin", "latin-ext"} {
		found, err := fs.Glob(s.config.Fonts, font(part))
		if err != nil || len(found) == 0 {
			continue // the program is built without the console
		}
		content, err := fs.ReadFile(s.config.Fonts, found[0])
		if err != nil {
			return err
		}
		files["assets/inter-"+part+".woff2"] = file{kind: kinds[".woff2"], content: content}
	}
	return nil
}

// font returns the file pattern of a part of the font in the built console.
func font(part string) string { return "assets/inter-" + part + "-wght-normal-*.woff2" }

// addPictures adds the images and documents that the pages refer to.
func (s *Site) addPictures(files map[string]file) error {
	for _, folder := range []string{"docs/images", "docs/invoices"} {
		entries, err := fs.ReadDir(s.config.Texts, folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := folder + "/" + e.Name()
			content, err := fs.ReadFile(s.config.Texts, name)
			if err != nil {
				return err
			}
			files[strings.TrimPrefix(name, "docs/")] = file{kind: kinds[path.Ext(name)], content: content}
		}
	}
	return nil
}

// suffix returns the suffix of page addresses.
func (c Config) suffix() string {
	if c.Files {
		return ".html"
	}
	return ""
}

// compressContent compresses content with gzip. It returns nil if that saves less than 10 %.
func compressContent(content []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil || w.Close() != nil || packed.Len() > len(content)*9/10 {
		return nil
	}
	return packed.Bytes()
}
