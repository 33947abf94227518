package einvoice_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"math/big"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/einvoice"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/testkit"
)

var issued = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// sample returns a paid invoice of a German seller to a German payer, with one line per amount.
func sample(rate int64, amounts ...int64) invoice.Statement {
	s := invoice.Statement{
		Seller:    invoice.Seller{Name: "Engines GmbH", Lines: []string{"Musterstraße 1", "10115 Berlin"}, Country: "DE", VATNumber: "DE 123456789"},
		VATNumber: "DE987654321", TaxRate: rate, MinorUnits: 2, Locale: "en",
		Invoice: invoice.Invoice{
			Number: "INV-2026-000042", Status: invoice.StatusPaid, PaidAt: ptr(issued), IssueDate: issued,
			Billed: invoice.BilledParty{Name: ptr("Größe & <Söhne>"), Address: invoice.BilledAddress{
				Line1: ptr("Allee 2"), City: ptr("München"), PostalCode: ptr("80331"), Country: ptr("DE"),
			}},
		},
	}
	var sum int64
	for _, amount := range amounts {
		s.Invoice.Lines = append(s.Invoice.Lines, invoice.Line{
			Description: "Team (Platform), 3 seats", Quantity: 3, UnitPrice: money.Money{AmountCents: amount / 3, Currency: "EUR"},
			Amount: money.Money{AmountCents: amount, Currency: "EUR"}, PeriodStart: ptr(issued), PeriodEnd: ptr(issued.AddDate(0, 1, 0)),
		})
		sum += amount
	}
	tax := (2*sum*rate + 1_000_000 + rate) / (2 * (1_000_000 + rate)) // rounded half up
	s.Invoice.Subtotal, s.Invoice.Tax, s.Invoice.Total = money.Money{AmountCents: sum - tax, Currency: "EUR"}, money.Money{AmountCents: tax, Currency: "EUR"}, money.Money{AmountCents: sum, Currency: "EUR"}
	return s
}

// abroad returns an invoice with reverse charge.
func abroad() invoice.Statement {
	s := sample(0, 3_000)
	s.VATNumber, s.Invoice.Billed.Address.Country, s.Invoice.Status = "FR12345678901", ptr("FR"), invoice.StatusOpen
	s.ReverseCharge = true
	return s
}

// credited returns the credit note of an invoice with reverse charge.
func credited() invoice.Statement {
	s := abroad()
	s.Invoice.Number, s.CreditOf, s.Memo = "CN-2026-000001", "INV-2026-000042", "One seat less"
	return s
}

// A credit note has the type 381 and the number of its invoice (BG-3).
func TestCreditNote(t *testing.T) {
	t.Parallel()
	text := write(t, credited())
	for _, want := range []string{"<ram:ID>CN-2026-000001</ram:ID>", "<ram:TypeCode>381</ram:TypeCode>", "<ram:IssuerAssignedID>INV-2026-000042</ram:IssuerAssignedID>", "VATEX-EU-AE"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if invoiced := write(t, abroad()); !strings.Contains(invoiced, ">380<") || strings.Contains(invoiced, "IssuerAssignedID") {
		t.Errorf("an invoice:\n%s", invoiced)
	}
}

func write(t *testing.T, s invoice.Statement) string {
	t.Helper()
	text, err := einvoice.Write(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// valid validates a document with xmllint against the schema that FNFE and FeRD publish (Factur-X
// 1.07.3, profile EN 16931).
func valid(t *testing.T, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testkit.Program(t, "xmllint"), "--noout", "--nonet", "--schema", "testdata/Factur-X_1.07.3_EN16931.xsd", "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, out, text)
	}
}

func TestIsValid(t *testing.T) {
	t.Parallel()
	odd := sample(190_000, 999, -333, 0, 1)
	odd.Invoice.Status, odd.Invoice.DueDate = invoice.StatusOpen, ptr(issued.AddDate(0, 0, 14))
	odd.Seller.Lines = []string{"one", "two", "three", "four"}
	odd.VATNumber, odd.Invoice.Billed.Address = "", invoice.BilledAddress{Country: ptr("GB"), State: ptr("Kent"), Line2: ptr("Room 2")}
	part := sample(190_000, 3_000, 900)
	part.Invoice.Status, part.Invoice.BalanceApplied = invoice.StatusOpen, money.Money{AmountCents: 1000, Currency: "EUR"}
	yen := sample(100_000, 3_300)
	yen.MinorUnits = 0
	for name, s := range map[string]invoice.Statement{"paid": sample(190_000, 3_000, 900), "credit note": credited(), "reverse charge": abroad(), "odd": odd, "applied credit": part, "no decimals": yen} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			valid(t, write(t, s))
		})
	}
}

// values returns the texts of all elements with the name.
func values(t *testing.T, text, name string) []string {
	t.Helper()
	var found []string
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == name {
			var content string
			if err := decoder.DecodeElement(&content, &start); err != nil {
				t.Fatal(err)
			}
			found = append(found, content)
		}
	}
}

func TestInvoiceElements(t *testing.T) {
	t.Parallel()
	paid, open := write(t, sample(190_000, 3_000, 900)), write(t, abroad())
	for name, want := range map[string]string{
		"TypeCode": "380 VAT VAT 1 VAT", "CategoryCode": "S S S", "RateApplicablePercent": "19 19 19", //nolint:dupword // One for each line.
		"LineTotalAmount": "25.21 7.56 32.77", "ChargeAmount": "25.21 7.56", "BasisQuantity": "3 3", "BilledQuantity": "3 3",
		"TaxBasisTotalAmount": "32.77", "TaxTotalAmount": "6.23", "GrandTotalAmount": "39.00", "TotalPrepaidAmount": "39.00", "DuePayableAmount": "0.00",
		"DateTimeString": "20260301 20260301 20260331 20260301 20260331", "CountryID": "DE DE", "DueDateDateTime": "", //nolint:dupword // One for each party.
	} {
		if got := strings.Join(values(t, paid, name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, want := range []string{`<ram:Name>Größe &amp; &lt;Söhne&gt;</ram:Name>`, `<ram:ID schemeID="VA">DE123456789</ram:ID>`, `<ram:ID>INV-2026-000042</ram:ID>`, "urn:cen.eu:en16931:2017"} {
		if !strings.Contains(paid, want) {
			t.Errorf("no %s in %s", want, paid)
		}
	}
	for name, want := range map[string]string{
		"CategoryCode": "AE AE", "RateApplicablePercent": "0 0", "ExemptionReasonCode": "VATEX-EU-AE", "TaxTotalAmount": "0.00", //nolint:dupword // One for each line.
		"GrandTotalAmount": "30.00", "TotalPrepaidAmount": "0.00", "DuePayableAmount": "30.00", "CountryID": "DE FR",
		"DateTimeString": "20260301 20260301 20260331 20260301",
	} {
		if got := strings.Join(values(t, open, name), " "); got != want {
			t.Errorf("reverse charge: %s: %q, want %q", name, got, want)
		}
	}
}

// The part that the customer's credit paid is prepaid (BT-113), and only the rest is due (BT-115).
func TestAppliedCredit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		balance   int64
		status    invoice.Status
		paid, due string
	}{
		{1000, invoice.StatusOpen, "10.00", "29.00"},
		{1000, invoice.StatusPaid, "39.00", "0.00"},
		{3900, invoice.StatusPaid, "39.00", "0.00"},
		{-1000, invoice.StatusOpen, "0.00", "39.00"},
	} {
		s := sample(190_000, 3_000, 900)
		s.Invoice.Status, s.Invoice.BalanceApplied = test.status, money.Money{AmountCents: test.balance, Currency: "EUR"}
		text := write(t, s)
		for name, want := range map[string]string{"GrandTotalAmount": "39.00", "TotalPrepaidAmount": test.paid, "DuePayableAmount": test.due} {
			if got := strings.Join(values(t, text, name), " "); got != want {
				t.Errorf("credit of %d, %s: %s: %q, want %q", test.balance, test.status, name, got, want)
			}
		}
	}
}

// EN 16931's rules for sums (BR-CO-10, -13, -15, -16, -17, BR-S-08), which the schema does not
// check.
func TestSums(t *testing.T) {
	t.Parallel()
	for _, s := range []invoice.Statement{sample(190_000, 999, -333, 1), sample(55_000, 1, 1, 1, 7), sample(250_000, 123_456_789, 2), abroad()} {
		text := write(t, s)
		one := func(name string) *big.Rat {
			all := values(t, text, name)
			n, ok := new(big.Rat).SetString(all[len(all)-1])
			if !ok {
				t.Fatalf("%s: %q", name, all)
			}
			return n
		}
		lines := new(big.Rat)
		for _, line := range values(t, text, "LineTotalAmount")[:len(s.Invoice.Lines)] {
			n, _ := new(big.Rat).SetString(line)
			lines.Add(lines, n)
		}
		sum := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
		for name, equal := range map[string]bool{
			"lines": lines.Cmp(one("LineTotalAmount")) == 0, "basis": lines.Cmp(one("TaxBasisTotalAmount")) == 0,
			"total": sum(one("TaxBasisTotalAmount"), one("TaxTotalAmount")).Cmp(one("GrandTotalAmount")) == 0,
			"due":   sum(one("TotalPrepaidAmount"), one("DuePayableAmount")).Cmp(one("GrandTotalAmount")) == 0,
		} {
			if !equal {
				t.Errorf("%s do not add up in %s", name, text)
			}
		}
		tax := new(big.Rat).Mul(one("TaxBasisTotalAmount"), big.NewRat(s.TaxRate, 1_000_000))
		if off := new(big.Rat).Sub(tax, one("TaxTotalAmount")); off.Abs(off).Cmp(big.NewRat(1, 100)) > 0 {
			t.Errorf("the tax is %s, want %s", one("TaxTotalAmount").FloatString(4), tax.FloatString(4))
		}
	}
}

func TestUnsupportedInvoices(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(*invoice.Statement){
		"seller’s country":                    func(s *invoice.Statement) { s.Seller.Country = "" },
		"VAT number of the seller is missing": func(s *invoice.Statement) { s.Seller.VATNumber = "" },
		"country of the payer":                func(s *invoice.Statement) { s.Invoice.Billed.Address.Country = nil },
		"name or the country":                 func(s *invoice.Statement) { s.Invoice.Billed.Name = nil },
		"no lines":                            func(s *invoice.Statement) { s.Invoice.Lines = nil },
		"two decimals":                        func(s *invoice.Statement) { s.MinorUnits = 3 },
		"a credit":                            func(s *invoice.Statement) { *s = sample(190_000, -300) },
		"rate of its tax":                     func(s *invoice.Statement) { s.TaxRate = 0 },
		"reason for the missing tax":          func(s *invoice.Statement) { *s = sample(0, 300) },
		"do not add up":                       func(s *invoice.Statement) { s.Invoice.Lines[0].Amount.AmountCents++ },
	} {
		s := sample(190_000, 300)
		change(&s)
		text, err := einvoice.Write(s)
		if !errors.Is(err, einvoice.ErrNotRepresentable) || !strings.Contains(err.Error(), why) || len(text) > 0 {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func TestNumbersHaveTheirCountry(t *testing.T) {
	t.Parallel()
	s := sample(240_000, 300)
	s.Seller.Country, s.Seller.VATNumber = "GR", "123456789"
	s.Invoice.Billed.Address.Country, s.VATNumber = ptr("ES"), "b-12.345 678"
	text := []byte(write(t, s))
	for _, want := range []string{">EL123456789<", ">ESB12345678<"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
