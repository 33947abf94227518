package pdf

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"text/template"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"github.com/tenantry/tenantry/internal/invoice/einvoice"
)

// srgb is the color profile (International Color Consortium, sRGB2014).
//
//go:embed srgb.icc
var srgb []byte

// metadata is the XMP metadata of a PDF/A-3 document with an embedded e-invoice (Factur-X 1.0,
// 6.2).
var metadata = template.Must(template.New("xmp").Parse(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"><pdfaid:part>3</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance></rdf:Description>
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:format>application/pdf</dc:format><dc:title><rdf:Alt><rdf:li xml:lang="x-default">{{html .Title}}</rdf:li></rdf:Alt></dc:title><dc:creator><rdf:Seq><rdf:li>{{html .Author}}</rdf:li></rdf:Seq></dc:creator></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/"><pdf:Producer>{{html .Maker}}</pdf:Producer></rdf:Description>
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:CreateDate>{{.Made}}</xmp:CreateDate><xmp:ModifyDate>{{.Made}}</xmp:ModifyDate></rdf:Description>
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"><fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>{{.File}}</fx:DocumentFileName><fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel></rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"><pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema><pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI><pdfaSchema:prefix>fx</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>
{{- range .Properties}}
<rdf:li rdf:parseType="Resource"><pdfaProperty:name>{{.}}</pdfaProperty:name><pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>{{.}} of the embedded invoice</pdfaProperty:description></rdf:li>
{{- end}}
</rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>
</rdf:RDF></x:xmpmeta>`))

// describe adds the parts that PDF/A-3 requires, as far as the PDF library supports them.
func (d *document) describe(title string) error {
	var xmp bytes.Buffer
	xmp.WriteString("<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n")
	err := metadata.Execute(&xmp, map[string]any{
		"Title": title, "Author": d.of.Seller.Name, "Maker": d.maker, "File": einvoice.FileName,
		"Made":       d.of.Invoice.IssueDate.UTC().Format("2006-01-02T15:04:05"),
		"Properties": []string{"DocumentFileName", "DocumentType", "Version", "ConformanceLevel"},
	})
	if err != nil {
		return fmt.Errorf("pdf: metadata: %w", err)
	}
	xmp.WriteString("\n<?xpacket end=\"w\"?>")
	d.SetXmpMetadata(xmp.Bytes())
	d.AddOutputIntent(fpdf.OutputIntentType{
		SubtypeIdent: fpdf.OutputIntent_GTS_PDFA1, OutputConditionIdentifier: "sRGB IEC61966-2.1", ICCProfile: srgb,
	})
	return nil
}

var errForm = errors.New("pdf: unexpected document structure")

// attach appends a file to a finished document as an incremental update (ISO 32000-1, 7.5.6). The
// PDF library can neither declare the relationship of an attachment nor set the document ID.
func attach(file, content []byte, made time.Time) ([]byte, error) {
	root, rootOK := readNumberAfter(file, "/Root ")
	info, infoOK := readNumberAfter(file, "/Info ")
	size, sizeOK := readNumberAfter(file, "/Size ")
	previous, previousOK := readNumberAfter(file, "startxref\n")
	begin := bytes.LastIndex(file, fmt.Appendf(nil, "\n%d 0 obj\n<<\n", root))
	if !rootOK || !infoOK || !sizeOK || !previousOK || begin < 0 {
		return nil, errForm
	}
	catalog, _, found := bytes.Cut(file[begin:], []byte("/Names <<"))
	if !found {
		return nil, errForm
	}
	_, catalog, _ = bytes.Cut(catalog, []byte("<<\n"))

	var out bytes.Buffer
	out.Write(file)
	offsets := map[int]int{}
	object := func(n int, body string) {
		offsets[n] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	stream, spec := size, size+1
	object(stream, fmt.Sprintf("<< /Type /EmbeddedFile /Subtype /text#2Fxml /Length %d /Params << /Size %d /ModDate (D:%s) >> >>\nstream\n%s\nendstream",
		len(content), len(content), made.UTC().Format("20060102150405Z"), content))
	object(spec, fmt.Sprintf("<< /Type /Filespec /F (%[1]s) /UF (%[1]s) /Desc (Factur-X invoice) /AFRelationship /Alternative /EF << /F %[2]d 0 R /UF %[2]d 0 R >> >>",
		einvoice.FileName, stream))
	object(root, fmt.Sprintf("<<\n%s/Version /1.7\n/AF [%d 0 R]\n/Names << /EmbeddedFiles << /Names [(%s) %d 0 R] >> >>\n>>",
		catalog, spec, einvoice.FileName, spec))
	start := out.Len()
	fmt.Fprintf(&out, "xref\n%d 1\n%010d 00000 n \n%d 2\n%010d 00000 n \n%010d 00000 n \n", root, offsets[root], stream, offsets[stream], offsets[spec])
	id := sha256.Sum256(out.Bytes())
	fmt.Fprintf(&out, "trailer\n<<\n/Size %d\n/Root %d 0 R\n/Info %d 0 R\n/Prev %d\n/ID [<%[5]x> <%[5]x>]\n>>\nstartxref\n%[6]d\n%%%%EOF\n",
		size+2, root, info, previous, id[:16], start)
	return out.Bytes(), nil
}

// readNumberAfter reads the number that follows the last occurrence of word.
func readNumberAfter(file []byte, word string) (int, bool) {
	at := bytes.LastIndex(file, []byte(word))
	if at < 0 {
		return 0, false
	}
	digits := file[at+len(word):]
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	n, err := strconv.Atoi(string(digits[:max(end, 0)]))
	return n, err == nil
}
