package pages

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// PDF is an A4 page that is filled from top to bottom. It omits lines that do not fit.
type PDF struct {
	drawing bytes.Buffer
	used    int // in points from the top
}

// SkipLine adds an empty line.
func (p *PDF) SkipLine() { p.used += 18 }

// Text adds a line of text. left and size are in points.
func (p *PDF) Text(left, size int, text string) {
	p.used += size + 6
	y := 790 - p.used
	if y < 40 {
		return
	}
	// The built-in fonts support only Windows-1252.
	var encoded strings.Builder
	for _, r := range text {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if !ok || b < ' ' {
			b = '?'
		}
		if strings.IndexByte(`()\`, b) >= 0 {
			encoded.WriteByte('\\')
		}
		encoded.WriteByte(b)
	}
	fmt.Fprintf(&p.drawing, "BT /F1 %d Tf %d %d Td (%s) Tj ET\n", size, left, y, encoded.String())
}

// Document returns the page as a PDF file.
func (p *PDF) Document() []byte {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", p.drawing.Len(), p.drawing.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}
	var file bytes.Buffer
	file.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = file.Len()
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := file.Len()
	fmt.Fprintf(&file, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&file, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&file, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return file.Bytes()
}
