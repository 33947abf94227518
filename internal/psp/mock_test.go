package psp_test

import (
	"context"
	"iter"
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
		MeteredPriceIDs: []string{"price_2"}, Metadata: metadata, Locale: "fr",
	}
	change := psp.Change{
		SubscriptionID: "sub_1", ItemID: "si_1", PriceID: "price_2", Quantity: 4, ProrationDate: clock.System().Now(),
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
		"UpdateCustomer": func(ctx context.Context) error {
			return client.UpdateCustomer(ctx, "cus_1", psp.CustomerParams{
				Key: "k", Name: "Acme", Email: "billing@acme.test", Address: "1 Road",
				City: "Paris", PostalCode: "75001", Country: "FR", VATNumber: "FR123", Locale: "fr",
			})
		},
		"UpdateCustomer, erasing": func(ctx context.Context) error {
			return client.UpdateCustomer(ctx, "cus_1", psp.CustomerParams{Key: "k"})
		},
		"CreateProduct": func(ctx context.Context) error {
			return notEmpty(client.CreateProduct(ctx, psp.ProductParams{Key: "k", ID: "prod_1", Name: "Team", Metadata: metadata}))
		},
		"GetProduct": func(ctx context.Context) error {
			p, err := client.GetProduct(ctx, "prod_1")
			return notEmpty(p.ID, err)
		},
		"CreatePrice": func(ctx context.Context) error {
			p, err := client.CreatePrice(ctx, psp.PriceParams{
				Key: "k", ProductID: "prod_1", Currency: "EUR", UnitAmount: 1200,
				IntervalUnit: psp.IntervalMonth, IntervalCount: 3, Nickname: "Team quarterly", LookupKey: "0198c6f3", Metadata: metadata,
			})
			return notEmpty(p.ID, err)
		},
		"GetPrice": func(ctx context.Context) error {
			p, err := client.GetPrice(ctx, "price_1")
			return notEmpty(p.ProductID, err)
		},
		"FindPrice": func(ctx context.Context) error {
			p, err := client.FindPrice(ctx, "0198c6f3")
			return notEmpty(p.ID, err)
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
		"Subscriptions": func(ctx context.Context) error {
			return everyOne(client.Subscriptions(ctx, "cus_1", ""))
		},
		"Subscriptions, everybody's": func(ctx context.Context) error {
			return everyOne(client.Subscriptions(ctx, "", "sub_1"))
		},
		"PreviewChange": func(ctx context.Context) error {
			in, err := client.PreviewChange(ctx, change)
			return notEmpty(in.Currency, err)
		},
		"ChangeSubscription": func(ctx context.Context) error {
			s, err := client.ChangeSubscription(ctx, change, metadata, "k")
			return notEmpty(s.ID, err)
		},
		"SetQuantity": func(ctx context.Context) error {
			s, err := client.SetQuantity(ctx, "sub_1", "si_1", 7, "k")
			return notEmpty(s.ID, err)
		},
		"SetCancelAtPeriodEnd": func(ctx context.Context) error {
			s, err := client.SetCancelAtPeriodEnd(ctx, "sub_1", true, "k")
			return notEmpty(s.ID, err)
		},
		"CancelSubscription": func(ctx context.Context) error {
			s, err := client.CancelSubscription(ctx, "sub_1", "k")
			return notEmpty(s.ID, err)
		},
		"CreatePortal": func(ctx context.Context) error {
			return notEmpty(client.CreatePortal(ctx, psp.PortalParams{
				Key: "k", CustomerID: "cus_1", ReturnURL: "https://app.test/billing", Locale: "it",
			}))
		},
		"GetInvoice": func(ctx context.Context) error {
			in, err := client.GetInvoice(ctx, "in_1")
			return notEmpty(in.ID, err)
		},
		"ListInvoices": func(ctx context.Context) error {
			_, err := client.ListInvoices(ctx, psp.InvoiceQuery{CustomerID: "cus_1", Status: "paid", After: "in_1", Limit: 25})
			return err
		},
		"CreateMeter": func(ctx context.Context) error {
			m, err := client.CreateMeter(ctx, psp.MeterParams{
				Key: "k", EventName: "api-calls", Name: "API calls", Aggregation: psp.AggregateSum,
			})
			return notEmpty(m.ID, err)
		},
		"GetMeter": func(ctx context.Context) error {
			m, err := client.GetMeter(ctx, "mtr_1")
			return notEmpty(m.EventName, err)
		},
		"ReportUsage": func(ctx context.Context) error {
			return client.ReportUsage(ctx, psp.UsageReport{
				EventName: "api-calls", CustomerID: "cus_1", Quantity: 2_500_000, Identifier: "0198c6f2", At: clock.System().Now(),
			})
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

func everyOne[T any](list iter.Seq2[T, error]) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}
