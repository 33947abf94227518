package guides

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// repository is the URL prefix of files that are not on the site.
const repository = "https://github.com/tenantry/tenantry/blob/main/"

// pageRenderer renders Markdown to HTML.
type pageRenderer struct {
	config   Config
	markdown goldmark.Markdown
	pages    map[string]*page // by file
	current  *page
}

func newRenderer(c Config, pages []*page) *pageRenderer {
	r := &pageRenderer{config: c, pages: map[string]*page{}}
	for _, p := range pages {
		r.pages[p.Entry.file] = p
	}
	table := extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)) // a style attribute would require a weaker policy
	r.markdown = goldmark.New(
		goldmark.WithExtensions(table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(r, 100))),
	)
	return r
}

// page renders one page and collects its headings and searchable text.
func (r *pageRenderer) page(p *page) error {
	r.current = p
	ids := parser.NewContext(parser.WithIDs(&slugs{}))
	doc := r.markdown.Parser().Parse(text.NewReader(p.source), parser.WithContext(ids))
	if err := r.resolve(doc); err != nil {
		return err
	}
	p.indexText(doc)
	var body bytes.Buffer
	if err := r.markdown.Renderer().Render(&body, p.source, doc); err != nil {
		return err
	}
	marked := strings.ReplaceAll(body.String(), "<th></th>", "<td></td>") // a column without a name has no heading
	p.Body = template.HTML(marked)                                        //nolint:gosec // The texts are our own, and their HTML is left out.
	return nil
}

// resolve rewrites the links of a page to addresses on the site.
func (r *pageRenderer) resolve(doc ast.Node) error {
	return ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		l, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		if to := r.pages[r.file(string(l.Destination))]; to != nil && strings.HasSuffix(plainText(l, r.current.source), ".md") {
			l.RemoveChildren(l) // show the page's name instead of a file name
			l.AppendChild(l, ast.NewString([]byte(to.name())))
		}
		l.Destination = []byte(r.target(string(l.Destination)))
		return ast.WalkContinue, nil
	})
}

// name returns the name of the page in links from other pages.
func (p *page) name() string {
	if p.Parent != nil {
		return p.Parent.Entry.Title + ": " + p.Entry.Title
	}
	return p.Entry.Title
}

// file returns the file of the repository that a link of the current page refers to.
func (r *pageRenderer) file(link string) string {
	name, _, _ := strings.Cut(link, "#")
	return path.Join(path.Dir(r.current.Entry.file), name)
}

// target returns the address on the site for a link.
func (r *pageRenderer) target(link string) string {
	name, anchor, found := strings.Cut(link, "#")
	if name == "" || strings.Contains(name, "://") || strings.HasPrefix(name, "mailto:") {
		return link
	}
	if found {
		anchor = "#" + anchor
	}
	name = r.file(name)
	root := r.current.Root()
	if to := r.pages[name]; to != nil {
		return root + to.Address + r.config.suffix() + anchor
	}
	if to := r.pages[name+"/README.md"]; to != nil {
		return root + to.Address + r.config.suffix() + anchor
	}
	if name == "api/openapi.yaml" {
		return root + "api" + r.config.suffix()
	}
	if strings.HasPrefix(name, "docs/images/") || strings.HasPrefix(name, "docs/invoices/") {
		return root + strings.TrimPrefix(name, "docs/")
	}
	return repository + name + anchor
}

// Root returns the relative path from the page to the front page.
func (p *page) Root() string { return strings.Repeat("../", strings.Count(p.Address, "/")) }

// slugs generates heading IDs like repository hosts do.
type slugs struct{ seen map[string]int }

// Generate implements parser.IDs.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	id := slug(string(value))
	n := s.seen[id]
	s.seen[id]++
	if n > 0 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (s *slugs) Put([]byte) {}

func slug(title string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
			return unicode.ToLower(c)
		default:
			return -1
		}
	}, strings.TrimSpace(title))
}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *pageRenderer) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHeading, r.heading)
	register.Register(ast.KindFencedCodeBlock, r.code)
	register.Register(ast.KindImage, r.image)
	register.Register(ast.KindHTMLBlock, r.renderNothing) // only comments
	register.Register(ast.KindRawHTML, r.renderNothing)
	register.Register(extast.KindTable, r.table)
}

func (r *pageRenderer) renderNothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func (r *pageRenderer) heading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id := headingID(h)
	if entering {
		fmt.Fprintf(w, "<h%d id=\"%s\">", h.Level, template.HTMLEscapeString(id))
		return ast.WalkContinue, nil
	}
	if h.Level > 1 {
		fmt.Fprintf(w, "<a class=\"anchor\" href=\"#%s\" aria-label=\"Link to “%s”\">#</a>", template.HTMLEscapeString(id), template.HTMLEscapeString(plainText(h, source)))
	}
	fmt.Fprintf(w, "</h%d>\n", h.Level)
	return ast.WalkContinue, nil
}

func headingID(h *ast.Heading) string {
	value, _ := h.AttributeString("id")
	id, _ := value.([]byte)
	return string(id)
}

func (r *pageRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	language := string(block.Language(source))
	var code strings.Builder
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code.Write(line.Value(source))
	}
	fmt.Fprintf(w, "<div class=\"code\"><pre tabindex=\"0\"><code>%s</code></pre></div>\n", highlightCode(language, code.String()))
	return ast.WalkSkipChildren, nil
}

func (r *pageRenderer) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"table\" tabindex=\"0\"><table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

var (
	ownStyle = regexp.MustCompile(`(?s)<style>.*?</style>\s*`)
	ownSize  = regexp.MustCompile(`<svg [^>]*viewBox="([^"]+)"[^>]*>`)
)

// image renders an image. An SVG drawing is embedded in the page, so that it uses the colors of the
// page's theme. The style in its file is only used when it is shown alone.
func (r *pageRenderer) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	img := n.(*ast.Image)
	name := path.Join(path.Dir(r.current.Entry.file), string(img.Destination))
	alt := template.HTMLEscapeString(plainText(img, source))
	if path.Ext(name) != ".svg" {
		fmt.Fprintf(w, "<img src=\"%s\" alt=\"%s\" loading=\"lazy\">", r.target(string(img.Destination)), alt)
		return ast.WalkSkipChildren, nil
	}
	drawing, err := fs.ReadFile(r.config.Texts, name)
	if err != nil {
		return ast.WalkStop, err
	}
	inline := ownStyle.ReplaceAllString(string(drawing), "")
	inline = ownSize.ReplaceAllString(inline, "<svg class=\"drawing\" viewBox=\"$1\" role=\"img\" aria-label=\""+strings.ReplaceAll(alt, "$", "$$")+"\">")
	_, _ = w.WriteString("<span class=\"drawn\" tabindex=\"0\">" + strings.TrimSpace(inline) + "</span>")
	return ast.WalkSkipChildren, nil
}

// plainText returns the text of a node without markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(util.UnescapePunctuations(n.Segment.Value(source)))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		case *extast.TableCell, *ast.ListItem, *ast.Paragraph:
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
