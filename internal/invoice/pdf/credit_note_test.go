package pdf_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/invoice"
)

// The name of the document in each language, the invoice's number, the memo and
// the reverse-charge note.
func TestCreditNote(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string][]string{
		"en": {"Credit note", "Credit note number", "Reverse charge"},
		"fr": {"Avoir", "Numéro d’avoir", "Autoliquidation"},
		"es": {"Factura rectificativa", "Factura rectificada", "Inversión del sujeto pasivo"},
		"it": {"Nota di credito", "Numero della nota di credito", "Inversione contabile"},
	} {
		t.Run(locale, func(t *testing.T) {
			t.Parallel()
			s := sample("EUR", 2, locale, 1_234_50)
			s.Invoice.Number, s.Invoice.Status, s.Invoice.PaidAt, s.Invoice.DueDate = "CN-2026-000007", invoice.StatusOpen, nil, nil
			s.CreditOf, s.Memo, s.ReverseCharge = "INV-2026-000042", "One seat less\nfrom March on", true
			text := plain(read(t, render(t, s)))
			for _, w := range append(want, "CN-2026-000007", "INV-2026-000042", "One seat less", "from March on") {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		})
	}
}
