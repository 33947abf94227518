package blackbox_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The platform reads an invoice of a tenant as its members do. Only the path of the PDF differs.
func TestAdminReadsInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		o, other := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		s.BuyPlan(o, "starter")
		id, admin := s.Invoices(o, 1)[0].(map[string]any)["id"].(string), s.Admin()
		path, theirs := "/api/v1/admin/tenants/"+o.Tenant+"/invoices/"+id, "/api/v1/admin/tenants/"+other.Tenant+"/invoices/"+id
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path, admin, nil).Want(200).At("data.pdf_url") != nil })

		got := s.Call("GET", path, admin, nil).Want(200).At("data").(map[string]any)
		want := s.Call("GET", o.Path("/invoices/")+id, o.Token, nil).Want(200).At("data").(map[string]any)
		want["pdf_url"] = path + "/pdf"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if file := s.Call("GET", path+"/pdf", admin, nil).Want(200); !strings.HasPrefix(file.Text, "%PDF-") {
			t.Error("not a PDF")
		}
		s.Call("GET", theirs, admin, nil).Want(404)
		s.Call("GET", theirs+"/pdf", admin, nil).Want(404)
		s.Call("GET", path, o.Token, nil).Want(403)
	})
}
