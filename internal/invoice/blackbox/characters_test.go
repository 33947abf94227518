package blackbox_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// An invoice gets a document whatever characters its texts contain. The audit log lists the
// characters that the document replaces.
func TestDocumentWithMissingCharacters(t *testing.T) {
	t.Parallel()
	const rocket = "\U0001F680"
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect, func(s *settings.Settings) {
				apptest.WithPlatformInvoices(s)
				s.Invoices.Seller.Notes = map[string]string{"en": "Thank you \U0001F389"}
			})
			o := s.Register("ada@example.com", true)
			s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"legal_name": rocket + " Rockets"}).Want(200)
			s.BuyPlan(o, "starter")
			inv := s.Invoices(o, 1)[0].(map[string]any)
			path := o.Path("/invoices/") + inv["id"].(string) + "/pdf"
			apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path, o.Token, nil).Status == 200 })
			if file := s.Call("GET", path, o.Token, nil).Want(200).Text; !strings.HasPrefix(file, "%PDF-") {
				t.Fatalf("%.40q", file)
			}
			entry := s.AuditLog(url.Values{"filter[action]": {"invoice.characters_replaced"}, "filter[tenant]": {o.Tenant}})
			if entry.At("meta.total") != 1.0 || entry.Str("data.0.after.characters") != "\U0001F389"+rocket || entry.Str("data.0.after.number") != inv["number"] {
				t.Errorf("trail %s", entry.Text)
			}
		})
	}
}
