package creditnote_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The platform reads a credit note of a tenant as its members do. Only the path of the PDF differs.
func TestAdminReadsCreditNote(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		b, other := buy(s, "ada", apptest.CardPays), s.NewCustomer("bob")
		note := b.admin("POST", "/invoices/"+b.invoice+"/credit-notes", object{"amount_cents": 500, "settlement": "credit", "reason": "other"}).Want(201).Str("data.id")
		apptest.Eventually(t, "the document", func() bool { return b.admin("GET", "/credit-notes/"+note, nil).Want(200).At("data.pdf_url") != nil })

		got := b.admin("GET", "/credit-notes/"+note, nil).Want(200).At("data").(map[string]any)
		want := s.Call("GET", b.Path("/credit-notes/"+note), b.Token, nil).Want(200).At("data").(map[string]any)
		want["pdf_url"] = "/api/v1/admin/tenants/" + b.Tenant + "/credit-notes/" + note + "/pdf"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if file := b.admin("GET", "/credit-notes/"+note+"/pdf", nil).Want(200); !strings.HasPrefix(file.Text, "%PDF-") {
			t.Error("not a PDF")
		}
		s.Call("GET", "/api/v1/admin/tenants/"+other.Tenant+"/credit-notes/"+note, s.Admin(), nil).Want(404)
		s.Call("GET", "/api/v1/admin/tenants/"+b.Tenant+"/credit-notes/"+note, b.Token, nil).Want(403)
	})
}
