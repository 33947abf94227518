package blackbox_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// If optional mails are enabled, new users get a welcome mail and each payment gets one receipt
// with the invoice number that users see.
func TestOptionalMails(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		for _, mode := range []settings.InvoiceMode{settings.InvoicesByPSP, settings.InvoicesByPlatform} {
			t.Run(string(dialect)+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				s := apptest.Start(t, dialect, func(s *settings.Settings) {
					s.OptionalMails = []string{"welcome", "receipt"}
					if mode == settings.InvoicesByPlatform {
						apptest.WithPlatformInvoices(s)
					}
				})
				const to, billing = "ada@example.com", "billing@example.com"
				o := s.Register(to, true)
				apptest.Eventually(t, "the greeting", func() bool { return len(s.Mails(to)) == 1 })
				if got := s.Mails(to)[0]["subject"]; got != "Welcome to Tenantry" {
					t.Errorf("the subject is %q", got)
				}
				s.BuyPlan(o, "starter")
				inv := s.Invoices(o, 1)[0].(map[string]any)
				apptest.Eventually(t, "the receipt", func() bool { return len(s.Mails(billing)) == 1 })
				mail := s.Mails(billing)[0]
				if got, want := mail["subject"], "Receipt for invoice "+inv["number"].(string); got != want {
					t.Errorf("the subject is %q, want %q", got, want)
				}
				for _, want := range []string{"Starter (Platform)", "€19.00"} {
					if !strings.Contains(mail["text"].(string), want) {
						t.Errorf("no %s in %s", want, mail["text"])
					}
				}
				s.Advance(32 * apptest.Day)
				apptest.Eventually(t, "the receipt of the renewal", func() bool { return len(s.Mails(billing)) == 2 })

				// The receipt states only the amount that the card paid, without the credit.
				customer := s.ProviderObjects(o, "customer")[0].Str("id")
				s.AtProvider("POST", "/customers/"+customer+"/balance_transactions", "amount", "-500", "currency", "eur")
				s.Advance(31 * apptest.Day)
				apptest.Eventually(t, "the receipt of the rest", func() bool { return len(s.Mails(billing)) == 3 })
				rest := slices.IndexFunc(s.Mails(billing), func(m map[string]any) bool { return strings.Contains(m["text"].(string), "€14.00") })
				if rest < 0 {
					t.Errorf("no receipt of €14.00: %v", s.Mails(billing))
				}
			})
		}
	}
}

// The receipt for a change names the new plan, not the unused time of the previous one.
func TestReceiptForAChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("larger", "flat", "month", 4900, 0, nil)
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": s.PlanID(ada.Owner, "larger")}).Want(200)
		number := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).Str("data.0.number")
		var text string
		apptest.Eventually(t, "the receipt", func() bool {
			return slices.ContainsFunc(s.Mails("billing@example.com"), func(m map[string]any) bool {
				text, _ = m["text"].(string)
				return m["subject"] == "Receipt for invoice "+number
			})
		})
		if !strings.Contains(text, "remaining time") || strings.Contains(text, "unused time") {
			t.Errorf("the receipt reads %s", text)
		}
	}, func(s *settings.Settings) { s.OptionalMails = []string{"receipt"} })
}
