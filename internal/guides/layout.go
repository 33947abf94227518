package guides

import (
	"bytes"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

var layout = template.Must(template.New("").Funcs(referenceFunctions).ParseFS(assets, "assets/*.html"))

// view is the data of a page template.
type view struct {
	Root     string // relative path to the front page
	Front    string // address of the front page
	Suffix   string
	Font     bool
	Sections []viewSection
	All      []*page // for the table of contents of the site
	Page     *page   // nil for pages that are not guides
	Title    string
	Previous *page
	Next     *page
	// IsReference means that the page belongs to the API reference.
	IsReference bool
	Suggestions []suggestion // for an unknown address
}

type viewSection struct {
	Title string
	Pages []viewPage
}

type viewPage struct {
	Page     *page
	Current  bool
	Children []viewPage
}

// layOut renders the pages into the page template.
func (s *Site) layOut(files map[string]file, pages []*page) error {
	for i, p := range pages {
		v := s.view(pages, p)
		v.Title = p.Title
		if i > 0 {
			v.Previous = pages[i-1]
		}
		if i+1 < len(pages) {
			v.Next = pages[i+1]
		}
		if err := s.add(files, p.Address, "page", v); err != nil {
			return err
		}
	}
	v := s.view(pages, nil)
	v.Title = "Guides"
	front := ""
	if s.config.Files {
		front = "index"
	}
	if err := s.add(files, front, "front", v); err != nil {
		return err
	}
	v.Title = "All pages"
	if err := s.add(files, "contents", "contents", v); err != nil {
		return err
	}
	v.Title = "Not found"
	if err := s.add(files, "404", "missing", v); err != nil {
		return err
	}
	missing := files["404"+s.config.suffix()]
	missing.status = http.StatusNotFound
	files["404"+s.config.suffix()] = missing
	return nil
}

func (s *Site) add(files map[string]file, address, name string, v view) error {
	var b bytes.Buffer
	if err := layout.ExecuteTemplate(&b, name+".html", v); err != nil {
		return err
	}
	if address != "" {
		address += s.config.suffix()
	}
	files[address] = file{kind: kinds[".html"], content: b.Bytes()}
	return nil
}

func (s *Site) view(pages []*page, at *page) view {
	fonts, _ := fs.Glob(s.config.Fonts, font("latin")) // the pattern is valid
	v := view{Font: len(fonts) > 0, Suffix: s.config.suffix(), Front: "./", Page: at, All: pages}
	if at != nil && at.Root() != "" {
		v.Root, v.Front = at.Root(), at.Root()
	}
	if s.config.Files {
		v.Front = v.Root + "index.html"
	}
	for _, p := range pages {
		if p.Parent != nil {
			continue
		}
		if len(v.Sections) == 0 || v.Sections[len(v.Sections)-1].Title != p.Section {
			v.Sections = append(v.Sections, viewSection{Title: p.Section})
		}
		entry := viewPage{Page: p, Current: p == at}
		if at != nil && (at == p || at.Parent == p) {
			for _, child := range p.children {
				entry.Children = append(entry.Children, viewPage{Page: child, Current: child == at})
			}
		}
		last := &v.Sections[len(v.Sections)-1]
		last.Pages = append(last.Pages, entry)
	}
	return v
}

// Href returns the address of a page relative to the current page.
func (v view) Href(p *page) string { return v.Root + p.Address + v.Suffix }

// Description returns the description of the page for search engines.
func (v view) Description() string {
	switch {
	case v.IsReference:
		return v.Title + ": the HTTP API of Tenantry, the self-hosted backend for multi-tenant subscription software."
	case v.Page == nil:
		return "Guides for Tenantry, the self-hosted backend for multi-tenant subscription software."
	case v.Page.Entry.About != "":
		return v.Page.Entry.About
	default:
		return strings.TrimSuffix(v.Page.Title, ".") + "."
	}
}
