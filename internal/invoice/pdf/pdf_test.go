package pdf_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/pdf"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/testkit"
)

var issued = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// sample returns an invoice with lines of every type.
func sample(currency string, units int, locale string, amounts ...int64) invoice.Statement {
	due := issued.AddDate(0, 0, 14)
	s := invoice.Statement{
		Seller: invoice.Seller{
			Name: "Analytical Engines Ltd", Lines: []string{"12 St James’s Square", "London SW1Y 4JH", "United Kingdom"},
			VATNumber: "GB123456789", Email: "billing@engines.example",
		},
		VATNumber: "EL123456789", TaxRate: 240_000, MinorUnits: units, Locale: locale,
		Invoice: invoice.Invoice{
			ID: uuid.MustParse("019c0000-0000-7000-8000-000000000001"), Number: "INV-2026-000042", Status: invoice.StatusPaid, PaidAt: ptr(issued.AddDate(0, 0, 1)),
			IssueDate: issued, DueDate: &due,
			Billed: invoice.BilledParty{
				Name: ptr("Ωμέγα Ναυτιλιακή Α.Ε. & Søren Ærø"), Email: ptr("λογιστήριο@example.com"),
				Address: invoice.BilledAddress{Line1: ptr("Λεωφόρος Αθηνών 1"), City: ptr("Αθήνα"), PostalCode: ptr("104 31"), Country: ptr("GR")},
			},
		},
	}
	var sum int64
	for i, amount := range amounts {
		end := issued.AddDate(0, 1, 0)
		s.Invoice.Lines = append(s.Invoice.Lines, invoice.Line{
			Description: fmt.Sprintf("Команда «Юпитер» %d × Größe", i+1), Type: invoice.SubscriptionLine, Quantity: 3,
			UnitPrice: money.Money{AmountCents: amount, Currency: currency}, Amount: money.Money{AmountCents: 3 * amount, Currency: currency},
			PeriodStart: ptr(issued), PeriodEnd: &end,
		})
		sum += 3 * amount
	}
	tax := sum * 24 / 124
	s.Invoice.Subtotal, s.Invoice.Tax, s.Invoice.Total = money.Money{AmountCents: sum - tax, Currency: currency},
		money.Money{AmountCents: tax, Currency: currency}, money.Money{AmountCents: sum, Currency: currency}
	return s
}

func render(t *testing.T, s invoice.Statement) []byte {
	t.Helper()
	r, err := pdf.New(pdf.Config{Maker: "Tenantry"})
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := r.Render(s)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// In practice mode, each document says in its language that no money was transferred.
func TestPracticeDocument(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{
		"en": "Practice: no money was transferred.", "es": "Práctica: no se ha transferido dinero.",
		"it": "Esercitazione: nessuna somma è stata trasferita.", "fr": "Entraînement : aucune somme n’a été transférée.",
	} {
		for _, practice := range []bool{true, false} {
			r, err := pdf.New(pdf.Config{Maker: "Tenantry", Practice: practice})
			if err != nil {
				t.Fatal(err)
			}
			file, _, err := r.Render(sample("EUR", 2, locale, 1_234_50))
			if err != nil {
				t.Fatal(err)
			}
			if text := plain(read(t, file)); strings.Contains(text, want) != practice {
				t.Errorf("%s, practice %t: %s", locale, practice, text)
			}
		}
	}
}

// read extracts the text of a document with pdftotext.
func read(t *testing.T, file []byte) string {
	t.Helper()
	program := testkit.Program(t, "pdftotext")
	path := filepath.Join(t.TempDir(), "invoice.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), program, "-layout", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plain replaces non-breaking spaces with ordinary ones.
func plain(s string) string { return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(s) }

func TestDocument(t *testing.T) {
	t.Parallel()
	text := plain(read(t, render(t, sample("EUR", 2, "en", 1_234_50))))
	for _, want := range []string{
		"Invoice", "Invoice number", "INV-2026-000042", "Issue date", "1 March 2026", "Due date", "15 March 2026", "Paid on 2 March 2026",
		"Analytical Engines Ltd", "12 St James’s Square", "VAT number: GB123456789",
		"Bill to", "Ωμέγα Ναυτιλιακή Α.Ε. & Søren Ærø", "Λεωφόρος Αθηνών 1", "104 31 Αθήνα", "Greece", "VAT number: EL123456789", "λογιστήριο@example.com",
		"Команда «Юпитер» 1 × Größe", "1 March 2026 to 31 March 2026", "€1,234.50", "€3,703.50",
		"Unit price", "Net amount", "(incl. VAT)", "Net total", "Prices include VAT.", "€2,986.70", "VAT 24%", "€716.80", "Total (incl. VAT)", "Page 1 of 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPurchaseOrderOfDocument(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{"en": "Purchase order", "fr": "Bon de commande", "es": "Orden de compra", "it": "Ordine di acquisto"} {
		s := sample("EUR", 2, locale, 1000)
		s.Invoice.PurchaseOrder = "PO-2026-17"
		if text := plain(read(t, render(t, s))); !strings.Contains(text, want) || !strings.Contains(text, "PO-2026-17") {
			t.Errorf("no purchase order in\n%s", text)
		}
	}
}

func TestDocumentInEveryLocaleAndCurrency(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		locale, currency string
		units            int
		amount           int64
		want             []string
	}{
		{"fr", "EUR", 2, 123450, []string{"Facture", "1 234,50 €", "Facturé à", "du 1er mars 2026 au 31 mars 2026", "Grèce", "Facture n°", "INV-2026-000042", "Date d’émission", "1er mars 2026", "Payée le 2 mars 2026", "Montant HT", "Les prix s’entendent TTC.", "N° de TVA intracommunautaire : EL123456789", "Total HT", "TVA 24 %", "Total TTC", "Page 1 sur 1"}},
		{"es", "JPY", 0, 1200, []string{"Factura", "1.200 JPY", "3.600 JPY", "del 1 de marzo de 2026 al 31 de marzo de 2026", "NIF-IVA: EL123456789", "Grecia", "Base imponible", "IVA 24 %", "Total (IVA incl.)"}},
		{"it", "KWD", 3, 12345, []string{"Fattura", "12,345 KWD", "37,035 KWD", "Imponibile", "IVA 24%", "Partita IVA: EL123456789", "Totale (IVA incl.)"}},
		{"en", "JPY", 0, 1200, []string{"¥1,200", "¥3,600"}},
		{"en", "KWD", 3, 12345, []string{"KWD 12.345", "KWD 37.035"}},
		{"de", "USD", 2, 900, []string{"Invoice", "$9.00", "$27.00"}},
	} {
		text := plain(read(t, render(t, sample(test.currency, test.units, test.locale, test.amount))))
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s: no %q in\n%s", test.locale, test.currency, want, text)
			}
		}
	}
}

func TestDocumentOfManyLines(t *testing.T) {
	t.Parallel()
	amounts := make([]int64, 200)
	for i := range amounts {
		amounts[i] = int64(i + 1)
	}
	file := render(t, sample("EUR", 2, "en", amounts...))
	text := read(t, file)
	for i := range amounts {
		if n := len(regexp.MustCompile(fmt.Sprintf(`» %d × `, i+1)).FindAllString(text, -1)); n != 1 {
			t.Errorf("line %d occurs %d times", i+1, n)
		}
	}
	pages := strings.Count(text, "\f")
	if pages < 5 || !strings.Contains(text, fmt.Sprintf("Page %d of %d", pages, pages)) {
		t.Errorf("%d pages", pages)
	}
	for n, page := range strings.Split(strings.TrimSuffix(text, "\f"), "\f") {
		if !strings.Contains(page, "Unit price") && !strings.Contains(page, "Total") {
			t.Errorf("page %d lacks column headings", n+1)
		}
	}
}

func TestDocumentIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	s := sample("EUR", 2, "en", 900, 1200)
	s.Seller.Logo, _ = pdf.ParseLogo(logo(t))
	first := render(t, s)
	for range 3 {
		if !bytes.Equal(first, render(t, s)) {
			t.Fatal("two documents of one invoice differ")
		}
	}
	s.Invoice.Number = "INV-2026-000043"
	if bytes.Equal(first, render(t, s)) {
		t.Error("the documents of two invoices are equal")
	}
}

// The producer is the operator's product, not the seller.
func TestDocumentNamesItsMaker(t *testing.T) {
	t.Parallel()
	r, err := pdf.New(pdf.Config{Maker: "Acme"})
	if err != nil {
		t.Fatal(err)
	}
	file, _, err := r.Render(sample("EUR", 2, "en", 900))
	if err != nil {
		t.Fatal(err)
	}
	wide := func(s string) []byte { return []byte("\x00" + strings.Join(strings.Split(s, ""), "\x00")) }
	if !bytes.Contains(file, wide("Acme")) || bytes.Contains(file, wide("Tenantry")) || bytes.Contains(file, []byte("Tenantry")) {
		t.Error("the producer is not Acme")
	}
}

// Missing values leave no gap, and odd values do no harm.
func TestDocumentWithOddValues(t *testing.T) {
	t.Parallel()
	s := sample("EUR", 2, "en", 900)
	s.Invoice.Billed = invoice.BilledParty{}
	s.Invoice.Status = invoice.StatusOpen
	s.Invoice.DueDate, s.VATNumber, s.TaxRate, s.Invoice.Tax.AmountCents = nil, "", 0, 0
	s.Invoice.Lines[0].PeriodStart = nil
	s.Invoice.Lines[0].Description = strings.Repeat("very long ", 60) + "\x00\xff漢字"
	s.Invoice.Lines = append(s.Invoice.Lines, invoice.Line{
		Description: "Credit", Quantity: 1, UnitPrice: money.Money{AmountCents: -500, Currency: "EUR"}, Amount: money.Money{AmountCents: -500, Currency: "EUR"},
	})
	text := read(t, render(t, s))
	for _, absent := range []string{"Due date", "VAT 24", " to ", "Net amount", "Prices include", "Paid"} {
		if strings.Contains(text, absent) {
			t.Errorf("%q in\n%s", absent, text)
		}
	}
	if !strings.Contains(text, "-€5.00") {
		t.Errorf("no credit in\n%s", text)
	}
	render(t, invoice.Statement{})
}

func logo(t *testing.T) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 90, 30))
	for x := range 90 {
		for y := range 30 {
			picture.Set(x, y, color.RGBA{R: uint8(x), G: 80, B: 160, A: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParseLogo(t *testing.T) {
	t.Parallel()
	parsed, err := pdf.ParseLogo(logo(t))
	if err != nil {
		t.Fatal(err)
	}
	s := sample("EUR", 2, "en", 900)
	plain := render(t, s)
	s.Seller.Logo = parsed
	if with := render(t, s); len(with) <= len(plain) {
		t.Error("the logo is not in the document")
	}
	for name, picture := range map[string][]byte{"text": []byte("hello"), "half a picture": logo(t)[:80], "empty": {}} {
		if _, err := pdf.ParseLogo(picture); err == nil {
			t.Errorf("%s is accepted as a logo", name)
		}
	}
}

// Names in any script are readable in the document, and the file stays small.
func TestDocumentInOtherScripts(t *testing.T) {
	t.Parallel()
	latin := len(render(t, sample("EUR", 2, "en", 900)))
	for name, c := range map[string]struct{ name, address string }{
		"Chinese": {"上海软件有限公司", "中山東一路12號"}, "Japanese": {"株式会社ソフトウェア", "東京都千代田区丸の内1-1"}, "Korean": {"주식회사 소프트웨어", "서울특별시 종로구 1"},
		"Cyrillic": {"ООО «Юпитер»", "ул. Ленина, 5"}, "Vietnamese": {"Công ty Phần mềm Hữu hạn", "Đường Nguyễn Huệ"},
		"Thai": {"บริษัท ซอฟต์แวร์ จำกัด", "ถนนสีลม 1"}, "Georgian": {"შპს პროგრამა", "რუსთაველის 1"}, "Armenian": {"Ծրագիր ՍՊԸ", "Աբովյան 1"}, "Devanagari": {"सॉफ़्टवेयर कंपनी", "नया मार्ग 1"},
	} {
		s := sample("EUR", 2, "en", 900)
		s.Invoice.Billed.Name, s.Invoice.Billed.Address.Line1 = &c.name, &c.address
		file := render(t, s)
		text := plain(read(t, file))
		if !strings.Contains(text, c.name) || !strings.Contains(text, c.address) {
			t.Errorf("%s: not in\n%s", name, text)
		}
		if len(file) > latin+60_000 {
			t.Errorf("%s: %d bytes, want %d", name, len(file), latin)
		}
	}
	// Right-to-left text can be read back once the presentation forms are normalized.
	for name, want := range map[string]string{"Arabic": "شركة البرمجيات المحدودة", "Persian": "شرکت نرم\u200cافزار", "Hebrew": "חברת תוכנה"} {
		s := sample("EUR", 2, "en", 900)
		s.Invoice.Billed.Name = &want
		text := norm.NFKC.String(read(t, render(t, s)))
		for word := range strings.FieldsSeq(strings.ReplaceAll(want, "\u200c", "")) {
			if !strings.Contains(text, word) {
				t.Errorf("%s: no %s in\n%s", name, word, text)
			}
		}
	}
}

// The net amounts of the lines add up to the net total, however they are rounded.
func TestLinesAddUp(t *testing.T) {
	t.Parallel()
	s := sample("EUR", 2, "en", 333, 1, 7, 999)
	text := plain(read(t, render(t, s)))
	cents := func(text string) int {
		n, err := strconv.Atoi(strings.NewReplacer(".", "", "€", "", ",", "").Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	amounts := regexp.MustCompile(`€[\d,.]+`)
	var net, gross int
	for line := range strings.Lines(text) {
		if strings.Contains(line, "Команда") {
			found := amounts.FindAllString(line, -1)
			if len(found) != 3 {
				t.Fatalf("%q has %d amounts", line, len(found))
			}
			net, gross = net+cents(found[1]), gross+cents(found[2])
		}
	}
	if int64(net) != s.Invoice.Subtotal.AmountCents || int64(gross) != s.Invoice.Total.AmountCents {
		t.Errorf("net %d, gross %d in\n%s", net, gross, text)
	}
}

// The samples in the documentation match the current output. TENANTRY_UPDATE=1 rewrites them.
func TestSamples(t *testing.T) {
	t.Parallel()
	many := make([]int64, 60)
	for i := range many {
		many[i] = int64(100 * (i + 1))
	}
	branded := sample("KWD", 3, "it", 12_345)
	branded.Seller.Logo, _ = pdf.ParseLogo(logo(t))
	world := sample("USD", 2, "en", 12_900)
	world.Seller.Accent = "#7a1fa2"
	world.Invoice.Billed = invoice.BilledParty{Name: ptr("شركة البرمجيات المحدودة (Software Co. 24)"), Email: ptr("billing@example.com"), Address: invoice.BilledAddress{
		Line1: ptr("上海软件有限公司 · 株式会社ソフトウェア"), Line2: ptr("주식회사 소프트웨어 · חברת תוכנה בע\"מ"), City: ptr("دبي"), Country: ptr("AE"),
	}}
	for name, s := range map[string]invoice.Statement{
		"eur-en": sample("EUR", 2, "en", 1_234_50, 900), "jpy-fr-pages": sample("JPY", 0, "fr", many...), "kwd-it-logo": branded, "scripts-en": world,
	} {
		path := filepath.Join("../../../docs/invoices", name+".pdf")
		file := render(t, s)
		if os.Getenv("TENANTRY_UPDATE") != "" {
			if err := os.WriteFile(path, file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Compare the texts, because compression can differ between compiler versions.
		if got, want := read(t, kept), read(t, file); got != want {
			t.Errorf("%s is out of date, want the text\n%s\ngot\n%s", path, got, want)
		}
	}
}

// The document shows why there is no tax, the local name of the tax, and the seller's note in the
// document's language.
func TestNotesOfDocument(t *testing.T) {
	t.Parallel()
	untaxed := func(locale, seller, payer string) invoice.Statement {
		s := sample("EUR", 2, locale, 900)
		s.TaxRate, s.Invoice.Tax.AmountCents, s.Invoice.Subtotal = 0, 0, s.Invoice.Total
		s.Seller.VATNumber, s.VATNumber = seller, payer
		s.Seller.Notes = map[string]string{"en": "Thank you.", "fr": "Pas d’escompte.|Indemnité forfaitaire : 40 €."}
		return s
	}
	reversed := func(locale string) invoice.Statement {
		s := untaxed(locale, "DE123456789", "FR12345678901")
		s.ReverseCharge = true
		return s
	}
	elsewhere := sample("USD", 2, "en", 900)
	elsewhere.Invoice.Billed.Address.Country = ptr("AU")
	for name, tt := range map[string]struct {
		of           invoice.Statement
		want, absent []string
	}{
		"between two countries": {
			reversed("fr"),
			[]string{"Autoliquidation : TVA due par le preneur", "Pas d’escompte.", "Indemnité forfaitaire : 40 €.", "Sous-total"},
			[]string{"TTC", "Thank you"},
		},
		"reverse charge in English": {reversed("en"), []string{"Reverse charge: VAT to be accounted for", "DE123456789", "FR12345678901"}, nil},
		"reverse charge in Spanish": {reversed("es"), []string{"Inversión del sujeto pasivo"}, nil},
		"reverse charge in Italian": {reversed("it"), []string{"Inversione contabile"}, nil},
		"a number without a check":  {untaxed("fr", "FR12345678901", "ESB12345678"), []string{"Sous-total"}, []string{"Autoliquidation"}},
		"in one country":            {untaxed("es", "ESB87654321", "ESB12345678"), []string{"NIF: ESB12345678", "Thank you."}, []string{"Inversión", "NIF-IVA"}},
		"numbers without a country": {untaxed("es", "B87654321", "12345678Z"), []string{"NIF: B87654321", "NIF: 12345678Z"}, []string{"NIF-IVA"}},
		"numbers from abroad":       {untaxed("es", "EL123456789", "GB123456789"), []string{"NIF-IVA: EL123456789", "N.º de IVA: GB123456789"}, nil},
		"out of the union":          {untaxed("it", "IT12345678901", "GB123456789"), []string{"Imponibile"}, []string{"Inversione"}},
		"another tax":               {elsewhere, []string{"Australia", "Tax 24%"}, []string{"VAT 24%"}},
	} {
		shown := plain(read(t, render(t, tt.of)))
		for _, want := range tt.want {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: no %q in\n%s", name, want, shown)
			}
		}
		for _, absent := range tt.absent {
			if strings.Contains(shown, absent) {
				t.Errorf("%s: %q in\n%s", name, absent, shown)
			}
		}
	}
}

// Every text produces a document. Characters that no font has are replaced and reported, and
// invisible characters are dropped.
func TestMissingCharacters(t *testing.T) {
	t.Parallel()
	r, err := pdf.New(pdf.Config{Maker: "Tenantry"})
	if err != nil {
		t.Fatal(err)
	}
	const rocket, ideogram, bengali = "\U0001F680", "\U00020BB7", "\u09ac"
	for name, change := range map[string]func(*invoice.Statement){
		"payer":          func(s *invoice.Statement) { s.Invoice.Billed.Name = ptr(rocket + " Rockets") },
		"city":           func(s *invoice.Statement) { s.Invoice.Billed.Address.City = ptr(rocket + "田") },
		"state":          func(s *invoice.Statement) { s.Invoice.Billed.Address.State = ptr(rocket) },
		"description":    func(s *invoice.Statement) { s.Invoice.Lines[0].Description = rocket },
		"note":           func(s *invoice.Statement) { s.Seller.Notes = map[string]string{"en": "Thank you " + rocket} },
		"seller":         func(s *invoice.Statement) { s.Seller.Name = rocket },
		"seller address": func(s *invoice.Statement) { s.Seller.Lines = []string{rocket} },
		"seller email":   func(s *invoice.Statement) { s.Seller.Email = rocket + "@example.com" },
		"VAT number":     func(s *invoice.Statement) { s.VATNumber = rocket },
		"number":         func(s *invoice.Statement) { s.Invoice.Number = rocket + "-1" },
	} {
		s := sample("EUR", 2, "en", 900)
		change(&s)
		file, replaced, err := r.Render(s)
		if err != nil || replaced != rocket {
			t.Errorf("%s: replaced %+q, %v", name, replaced, err)
			continue
		}
		if shown := read(t, file); !strings.Contains(shown, "\ufffd") {
			t.Errorf("%s: nothing stands for it in\n%s", name, shown)
		}
	}
	for text, want := range map[string]string{
		"Müller & Söhne": "", "Mu\u0308ller": "", "❤\ufe0f": "❤", "a\u200db": "", "₹ € ₿ №": "", "≤": "≤", "株式会社": "",
		ideogram + "野家": ideogram, bengali + rocket + bengali: bengali + rocket, "\ue000": "\ue000", "\uffff": "\uffff",
	} {
		s := sample("EUR", 2, "en", 900)
		s.Invoice.Billed.Name = &text
		if _, replaced, err := r.Render(s); err != nil || replaced != want {
			t.Errorf("%+q: replaced %+q, want %+q, %v", text, replaced, want, err)
		}
	}
	composed, decomposed := sample("EUR", 2, "en", 900), sample("EUR", 2, "en", 900)
	composed.Invoice.Billed.Name, decomposed.Invoice.Billed.Name = ptr("Ångström"), ptr(norm.NFD.String("Ångström"))
	if !bytes.Equal(render(t, composed), render(t, decomposed)) {
		t.Error("a decomposed name is drawn differently")
	}
}

// FuzzRender checks that every text produces a document. Texts are cut to slightly more than the
// API accepts, because a megabyte would take minutes to lay out.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{"Ada", "\U0001F680", "کمپنی \U0001F680 12", "हि", "\u093f", "\xff", "\U0010ffff\uffff\ufffd"} {
		f.Add(seed)
	}
	r, err := pdf.New(pdf.Config{Maker: "Tenantry"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 2000)]
		s := sample("EUR", 2, "en", 900)
		s.Invoice.Billed.Name, s.Invoice.Lines[0].Description, s.Seller.Name = &text, text, text
		s.Seller.Notes = map[string]string{"en": text}
		if file, _, err := r.Render(s); err != nil || len(file) == 0 {
			t.Errorf("%+q: %v", text, err)
		}
	})
}
