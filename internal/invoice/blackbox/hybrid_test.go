package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// If hybrid invoices are enabled, the PDF embeds the e-invoice data. An invoice that EN 16931
// cannot represent gets a plain PDF.
func TestDocumentForPrograms(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		for name, c := range map[string]struct {
			tax  map[string]int64
			want bool
		}{
			"with the tax of the payer's country": {map[string]int64{"GB": 200_000}, true},
			"without tax":                         {nil, false},
		} {
			t.Run(string(dialect)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := apptest.Start(t, dialect, func(s *settings.Settings) {
					apptest.WithPlatformInvoices(s)
					s.Invoices.Hybrid, s.Invoices.Taxes = true, c.tax
					s.Invoices.Seller.Country, s.Invoices.Seller.VATNumber = "GB", "GB123456789"
				})
				o := s.Register("ada@example.com", true)
				s.BuyPlan(o, "starter")
				inv := s.Invoices(o, 1)[0].(map[string]any)
				path := o.Path("/invoices/") + inv["id"].(string) + "/pdf"
				apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path, o.Token, nil).Status == 200 })
				file := s.Call("GET", path, o.Token, nil).Want(200).Text
				if !strings.HasPrefix(file, "%PDF-") {
					t.Fatalf("%.40q", file)
				}
				for _, part := range []string{
					"factur-x.xml",
					"<ram:ID>" + inv["number"].(string) + "</ram:ID>",
					"<ram:GrandTotalAmount>19.00</ram:GrandTotalAmount>",
					"<ram:TotalPrepaidAmount>19.00</ram:TotalPrepaidAmount>",
					"<ram:Name>Starter (Platform)</ram:Name>",
				} {
					if strings.Contains(file, part) != c.want {
						t.Errorf("%s: %v is wrong", part, !c.want)
					}
				}
			})
		}
	}
}
