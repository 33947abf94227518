package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A credit note and its refund are published once, although the provider reports them several times.
func TestEventsOfCreditNotes(t *testing.T) {
	t.Parallel()
	for name, option := range map[string][]apptest.Option{"provider's": nil, "ours": {apptest.WithPlatformInvoices}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, creditNoteEvents, option...)
		})
	}
}

func creditNoteEvents(t *testing.T, s *apptest.Server) {
	ada := s.Register("ada@example.com", true)
	r := newReceiver(t, nil)
	endpoint(s, ada, r.url, "invoice.refunded", "credit_note.issued")
	s.BuyPlan(ada, "starter")
	invoice := s.Invoices(ada, 1)[0].(map[string]any)["id"].(string)
	made := s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invoices/"+invoice+"/credit-notes", s.Admin(), apptest.Object{
		"amount_cents": 500, "settlement": "refund", "reason": "duplicate",
	}).Want(201)
	if m := r.await(1, "credit_note.issued")[0]; m.data("id") != made.At("data.id") || m.data("number") != made.At("data.number") || m.data("invoice_id") != invoice {
		t.Errorf("%s", m.body)
	}
	if m := r.await(1, "invoice.refunded")[0]; m.data("id") != invoice || m.data("refunded").(map[string]any)["amount_cents"] != 500.0 {
		t.Errorf("%s", m.body)
	}
	s.AwaitNotifications()
	for _, kind := range []string{"invoice.refunded", "credit_note.issued"} {
		if n := len(r.got(kind)); n != 1 {
			t.Errorf("%s was sent %d times", kind, n)
		}
	}
}
