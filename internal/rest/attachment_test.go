package rest

import (
	"mime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAttachment(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"invoice-INV-2026-000001.pdf": `attachment; filename="invoice-INV-2026-000001.pdf"`,
		`a"b.pdf`:                     `attachment; filename="a_b.pdf"; filename*=UTF-8''a%22b.pdf`,
		"a\r\nSet-Cookie: x.pdf":      `attachment; filename="a__Set-Cookie: x.pdf"; filename*=UTF-8''a__Set-Cookie%3A%20x.pdf`,
		"Größe.pdf":                   `attachment; filename="Gr__e.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf`,
		"../etc/passwd":               `attachment; filename=".._etc_passwd"; filename*=UTF-8''.._etc_passwd`,
	} {
		if got := Attachment(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	// For any name, a browser reads a single header with a single name that is not a path.
	rapid.Check(t, func(t *rapid.T) {
		header := Attachment(rapid.String().Draw(t, "name"))
		kind, params, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" || strings.ContainsAny(header, "\r\n\x00") || strings.ContainsAny(params["filename"], `/\`) {
			t.Fatalf("%q: %v", header, err)
		}
	})
}
