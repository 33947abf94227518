package pdf_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/einvoice"
	"github.com/tenantry/tenantry/internal/invoice/pdf"
	"github.com/tenantry/tenantry/internal/testkit"
)

func hybrid(t *testing.T, s invoice.Statement) (file []byte, log string) {
	t.Helper()
	var out bytes.Buffer
	r, err := pdf.New(pdf.Config{Maker: "Tenantry", Hybrid: true, Log: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if file, _, err = r.Render(s); err != nil {
		t.Fatal(err)
	}
	return file, out.String()
}

// A document embeds its data as the attachment that Factur-X readers look for, and declares it in
// the metadata.
func TestHybrid(t *testing.T) {
	t.Parallel()
	s := sample("EUR", 2, "en", 1_234_50, 900)
	s.Seller.Country, s.Seller.Name = "GB", "Analytical & Engines"
	file, log := hybrid(t, s)
	if log != "" {
		t.Error(log)
	}
	want, err := einvoice.Write(s)
	if err != nil {
		t.Fatal(err)
	}
	if plain(read(t, file)) != plain(read(t, render(t, s))) {
		t.Error("text differs from the document without data")
	}
	for _, part := range []string{
		"/AFRelationship /Alternative", "/Subtype /text#2Fxml", "(factur-x.xml)", "/OutputIntents", "/S /GTS_PDFA1", "/ID [<",
		"<pdfaid:part>3</pdfaid:part>", "<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>", "<rdf:li>Analytical &amp; Engines</rdf:li>", "<rdf:li xml:lang=\"x-default\">Invoice INV-2026-000042</rdf:li>",
	} {
		if !bytes.Contains(file, []byte(part)) {
			t.Errorf("no %s", part)
		}
	}
	// The cross-reference table of the update points to its objects.
	tail := file[bytes.LastIndex(file, []byte("\nxref\n")):]
	for _, entry := range regexp.MustCompile(`(\d{10}) 00000 n`).FindAllSubmatch(tail, -1) {
		at, _ := strconv.Atoi(string(entry[1]))
		if !regexp.MustCompile(`^\d+ 0 obj\n`).Match(file[at:]) {
			t.Errorf("no object at %d", at)
		}
	}
	if again, _ := hybrid(t, s); !bytes.Equal(file, again) {
		t.Error("two documents of one invoice differ")
	}
	program := testkit.Program(t, "pdftotext", "pdfdetach") // both come from one package
	folder := t.TempDir()
	path, out := filepath.Join(folder, "invoice.pdf"), filepath.Join(folder, "factur-x.xml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), program, "-savefile", "factur-x.xml", "-o", out, path).CombinedOutput(); err != nil || len(text) > 0 {
		t.Fatalf("%v: %s", err, text)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v: the attachment is %s", err, got)
	}
}

// An invoice that EN 16931 cannot represent gets a plain document, and the log has the reason.
func TestUnsupportedHybridInvoice(t *testing.T) {
	t.Parallel()
	s := sample("KWD", 3, "en", 12_345)
	s.Seller.Country = "GB"
	file, log := hybrid(t, s)
	if !bytes.Equal(file, render(t, s)) || !strings.Contains(log, "more than two decimals") || !strings.Contains(log, s.Invoice.Number) {
		t.Errorf("%q", log)
	}
}
