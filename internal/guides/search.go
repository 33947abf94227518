package guides

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/yuin/goldmark/ast"

	"github.com/tenantry/tenantry/internal/guides/apidoc"
)

// passage is the text below one heading, which the search can find.
type passage struct {
	heading heading
	text    string
}

// indexText collects the headings and passages of a page.
func (p *page) indexText(doc ast.Node) {
	var current *passage
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			if text := plainText(n, p.source); current != nil && n.Kind() != ast.KindHTMLBlock {
				current.text += text + " "
			}
			continue
		}
		here := heading{Level: h.Level, ID: headingID(h), Text: plainText(h, p.source)}
		if h.Level == 1 && p.Title == "" {
			p.Title = here.Text
		} else if h.Level <= 3 {
			p.Headings = append(p.Headings, here)
		}
		p.passages = append(p.passages, passage{heading: here})
		current = &p.passages[len(p.passages)-1]
	}
}

// foundPage is a page in the search index, with short keys to keep the index small.
type foundPage struct {
	Address  string      `json:"a"`
	Title    string      `json:"t"`
	Section  string      `json:"s"`
	Passages [][3]string `json:"p"`          // ID, heading and text
	Names    []string    `json:"n,omitzero"` // of an operation: its ID, method and path
}

// indexCodes returns the error codes for the search. Each leads to its section of the page of errors.
func indexCodes(pages []*page, suffix string) []foundPage {
	var index []foundPage
	for _, p := range pages {
		if p.Entry.file != errorsFile {
			continue
		}
		f := foundPage{Address: p.Address + suffix, Title: p.Entry.Title, Section: "API reference · Error codes"}
		texts := errorTexts(string(p.source))
		for _, code := range slices.Sorted(maps.Keys(texts)) {
			i := slices.IndexFunc(p.passages, func(one passage) bool { return strings.Contains(" "+one.text, " "+code+" ") })
			if i >= 0 {
				f.Passages = append(f.Passages, [3]string{p.passages[i].heading.ID, code, texts[code].Meaning})
			}
		}
		index = append(index, f)
	}
	return index
}

// searchIndex returns the search index: the synonyms, and all passages by page.
func searchIndex(pages []*page, ref *apidoc.Reference, suffix string) ([]byte, error) {
	index := struct {
		Synonyms map[string][]string `json:"synonyms"`
		Pages    []foundPage         `json:"pages"`
	}{Synonyms: synonyms}
	for _, p := range pages {
		f := foundPage{Address: p.Address + suffix, Title: p.Entry.Title, Section: p.Section}
		if p.Parent != nil {
			f.Section += " · " + p.Parent.Entry.Title
		}
		for i, passage := range p.passages {
			one := [3]string{passage.heading.ID, passage.heading.Text, passage.text}
			if i == 0 {
				one[0], one[1] = "", ""
			}
			f.Passages = append(f.Passages, one)
		}
		index.Pages = append(index.Pages, f)
	}
	index.Pages = append(index.Pages, indexCodes(pages, suffix)...)
	index.Pages = append(index.Pages, indexReference(ref, suffix)...)
	return json.Marshal(index, json.Deterministic(true))
}
