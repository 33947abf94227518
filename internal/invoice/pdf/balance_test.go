package pdf_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
)

// A document shows the part that the customer's credit paid, and the rest. Without credit it shows
// only the total.
func TestCreditInDocument(t *testing.T) {
	t.Parallel()
	for locale, words := range map[string][3]string{
		"en": {"Paid from balance", "Amount due", "Amount paid"}, "es": {"Pagado con el saldo", "Importe por pagar", "Importe pagado"},
		"fr": {"Payé avec le solde", "Montant à payer", "Montant payé"}, "it": {"Pagato con il saldo", "Importo da pagare", "Importo pagato"},
	} {
		applied, due, paid := words[0], words[1], words[2]
		for _, test := range []struct {
			balance int64
			status  invoice.Status
			want    map[string]string // amounts by label; absent if empty
		}{
			{2500, invoice.StatusOpen, map[string]string{applied: "25", due: "275", paid: ""}},
			{2500, invoice.StatusPaid, map[string]string{applied: "25", due: "", paid: "275"}},
			{30_000, invoice.StatusPaid, map[string]string{applied: "300", due: "0", paid: ""}},
			{0, invoice.StatusOpen, map[string]string{applied: "", due: "", paid: ""}},
			{-2500, invoice.StatusPaid, map[string]string{applied: "", due: "", paid: ""}},
		} {
			s := sample("EUR", 2, locale, 10_000)
			s.Invoice.Status, s.Invoice.BalanceApplied = test.status, money.Money{AmountCents: test.balance, Currency: "EUR"}
			text := plain(read(t, render(t, s)))
			for label, amount := range test.want {
				row := regexp.MustCompile(label + `\s+-?€?` + amount + `[.,]00`)
				if amount == "" && strings.Contains(text, label) || amount != "" && !row.MatchString(text) {
					t.Errorf("%s, credit of %d, %s: %s: want %q in\n%s", locale, test.balance, test.status, label, amount, text)
				}
			}
		}
	}
}
