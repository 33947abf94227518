package psp_test

import (
	"context"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
)

func TestAPIVersionIsTheLibrarys(t *testing.T) {
	t.Parallel()
	if psp.APIVersion != stripe.APIVersion {
		t.Fatalf("psp is written for API version %s, the library speaks %s", psp.APIVersion, stripe.APIVersion)
	}
}

// Every request has a shape that the provider's description allows. What the
// mock answers are examples, so little is said about the answers here.
func TestRequestsAreAcceptedByStripeMock(t *testing.T) {
	t.Parallel()
	client, err := psp.NewClient(psp.Config{SecretKey: "sk_test_123", BaseURL: stripeMock(t)})
	if err != nil {
		t.Fatal(err)
	}
	metadata := map[string]string{"tenant_id": "0198c6f0", "checkout_id": "0198c6f1"}
	checkout := psp.CheckoutParams{
		Key: "k", CustomerID: "cus_1", PriceID: "price_1", Quantity: 3, TrialDays: 14,
		SuccessURL: "https://app.test/ok?s={CHECKOUT_SESSION_ID}", CancelURL: "https://app.test/no",
		Metadata: metadata, Locale: "fr",
	}
	free := psp.CheckoutParams{
		Key: "k", CustomerID: "cus_1", PriceID: "price_1", Free: true,
		SuccessURL: "https://app.test/ok", CancelURL: "https://app.test/no",
	}
	notEmpty := func(id string, err error) error {
		if err == nil && id == "" {
			t.Error("no id")
		}
		return err
	}
	calls := map[string]func(ctx context.Context) error{
		"CreateCustomer": func(ctx context.Context) error {
			return notEmpty(client.CreateCustomer(ctx, psp.CustomerParams{
				Key: "k", TenantID: "0198c6f0", Name: "Acme", Email: "billing@acme.test", Address: "1 Road",
				City: "Paris", PostalCode: "75001", Country: "FR", VATNumber: "FR123", Locale: "fr",
			}))
		},
		"CreateCustomer, only a name": func(ctx context.Context) error {
			return notEmpty(client.CreateCustomer(ctx, psp.CustomerParams{Key: "k", Name: "Acme"}))
		},
		"CreateProduct": func(ctx context.Context) error {
			return notEmpty(client.CreateProduct(ctx, "k", "Team", metadata))
		},
		"CreatePrice": func(ctx context.Context) error {
			p, err := client.CreatePrice(ctx, psp.PriceParams{
				Key: "k", ProductID: "prod_1", Currency: "EUR", UnitAmount: 1200,
				IntervalUnit: psp.IntervalMonth, IntervalCount: 3, Nickname: "Team quarterly", Metadata: metadata,
			})
			return notEmpty(p.ID, err)
		},
		"GetPrice": func(ctx context.Context) error {
			p, err := client.GetPrice(ctx, "price_1")
			return notEmpty(p.ProductID, err)
		},
		"CreateCheckout": func(ctx context.Context) error {
			s, err := client.CreateCheckout(ctx, checkout)
			return notEmpty(s.ID, err)
		},
		"CreateCheckout, free": func(ctx context.Context) error {
			s, err := client.CreateCheckout(ctx, free)
			return notEmpty(s.ID, err)
		},
		"GetCheckout": func(ctx context.Context) error {
			s, err := client.GetCheckout(ctx, "cs_1")
			return notEmpty(s.ID, err)
		},
		"GetSubscription": func(ctx context.Context) error {
			s, err := client.GetSubscription(ctx, "sub_1")
			if err == nil && (s.ItemID == "" || s.PriceID == "" || s.PeriodEnd.IsZero() || s.Currency == "") {
				t.Errorf("incomplete: %+v", s)
			}
			return err
		},
		"SetCancelAtPeriodEnd": func(ctx context.Context) error {
			s, err := client.SetCancelAtPeriodEnd(ctx, "sub_1", true, "k")
			return notEmpty(s.ID, err)
		},
		"CancelSubscription": func(ctx context.Context) error {
			s, err := client.CancelSubscription(ctx, "sub_1", "k")
			return notEmpty(s.ID, err)
		},
		"RefundCheckout": func(ctx context.Context) error {
			return client.RefundCheckout(ctx, "cs_1", "k")
		},
		"Events": func(ctx context.Context) error {
			for e, err := range client.Events(ctx, clock.System().Now().Add(-time.Hour)) {
				if err := notEmpty(e.ID, err); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := call(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
