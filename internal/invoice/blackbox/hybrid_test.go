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

// The document of an invoice that used the customer's credit demands only the rest.
func TestDocumentWithAppliedCredit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		admin := "/api/v1/admin/tenants/" + ada.Tenant
		s.Call("POST", admin+"/credit", s.Admin(), apptest.Object{"amount_cents": 2500, "currency": "EUR", "reason": "goodwill"}).Want(201)
		s.Call("POST", admin+"/subscriptions", s.Admin(), apptest.Object{
			"plan_id": s.PlanID(ada.Owner, "starter"), "currency": "EUR", "price_cents": 10_000, "collection": "invoice",
		}).Want(201)
		s.AwaitNotifications()
		inv := s.Invoices(ada.Owner, 1)[0].(map[string]any)
		path := ada.Path("/invoices/" + inv["id"].(string))
		s.Call("GET", path, ada.Token, nil).Want(200).WantAt("data.balance_applied.amount_cents", 2500.0).WantAt("data.status", "open")
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path+"/pdf", ada.Token, nil).Status == 200 })
		file := s.Call("GET", path+"/pdf", ada.Token, nil).Want(200).Text
		for _, part := range []string{
			"<ram:GrandTotalAmount>100.00</ram:GrandTotalAmount>",
			"<ram:TotalPrepaidAmount>25.00</ram:TotalPrepaidAmount>",
			"<ram:DuePayableAmount>75.00</ram:DuePayableAmount>",
		} {
			if !strings.Contains(file, part) {
				t.Errorf("no %s", part)
			}
		}
	}, apptest.WithPlatformInvoices, func(s *settings.Settings) {
		s.Invoices.Hybrid = true
		s.Invoices.Seller.Country, s.Invoices.Seller.VATNumber = "GB", "GB123456789"
	})
}
