package payments_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// late stores a state of a paid invoice that is out of date: it has a failure and not the payment.
func late(t *testing.T, s *apptest.Server, o apptest.Owner, pspID string) {
	t.Helper()
	book := payments.NewBook(s.DB(), clock.NewFixed(s.Now()), customers.Wallet{})
	err := s.DB().Tx(t.Context(), func(ctx context.Context) error {
		_, err := book.StoreState(ctx, uuid.MustParse(o.Tenant), uuid.New(), s.Now(), payments.State{
			Invoice: psp.Invoice{ID: pspID, Status: "open", Currency: "EUR", Total: 2000, AmountDue: 2000, Open: 2000, Attempts: 1},
			Failure: customers.Failure{Key: "failed-ch_late", Code: "card_declined"},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
