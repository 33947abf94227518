package subscriptions_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// Pending items are invoiced at the boundaries of their interval, between renewals.
func TestPendingItemsAreInvoicedBetweenRenewals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(36500, "eur", "year")
	sub := w.Subscribe(price, "pm_card_visa", "pending_invoice_item_interval[interval]=month")
	path := "/v1/subscriptions/" + sub.At("id")
	sub.CheckValues(t, "begun", "pending_invoice_item_interval.interval", "month", "pending_invoice_item_interval.interval_count", "1",
		"next_pending_invoice_item_invoice", at(w.Clock.Now().AddDate(0, 1, 0)))
	invoices := "/v1/invoices?subscription=" + sub.At("id")
	count := func(what string, want int) []string {
		t.Helper()
		ids := w.IDs(invoices)
		if len(ids) != want {
			t.Fatalf("%s: %d invoices, want %d", what, len(ids), want)
		}
		return ids
	}
	quantity := func(n string) {
		t.Helper()
		w.Post(path, "items[0][id]="+w.Get(path).At("items.data.0.id")+"&items[0][quantity]="+n+"&proration_behavior=create_prorations")
	}
	w.Clock.Set(w.Clock.Now().AddDate(0, 1, 0))
	count("a month without anything", 1)
	w.Advance(day)
	quantity("2")
	count("a change", 1)
	w.Clock.Set(w.Clock.Now().AddDate(0, 1, -1))
	w.Get("/v1/invoices/"+count("a month with it", 2)[0]).CheckValues(t, "the draft",
		"status", "draft", "billing_reason", "automatic_pending_invoice_item_invoice")
	w.Advance(time.Hour)
	w.Get("/v1/invoices/"+count("an hour later", 2)[0]).CheckValues(t, "the invoice", "status", "paid")

	// A credit goes to the balance. Without the interval, items stay pending.
	quantity("1")
	w.Clock.Set(w.Clock.Now().AddDate(0, 1, 0))
	w.Advance(time.Hour)
	credit := w.Get("/v1/invoices/" + count("a credit", 3)[0])
	if credit.Int("total") >= 0 || w.Get("/v1/customers/"+sub.At("customer")).Int("balance") != credit.Int("total") {
		t.Errorf("the credit is %v", credit.At("total"))
	}
	w.Post(path, "pending_invoice_item_interval=").CheckValues(t, "unset", "pending_invoice_item_interval", "null", "next_pending_invoice_item_invoice", "null")
	quantity("3")
	w.Advance(70 * day)
	count("without the interval", 3)
	w.Post(path, "pending_invoice_item_interval[interval]=week&pending_invoice_item_interval[interval_count]=2")
	w.Advance(15*day + time.Hour)
	count("with another one", 4)
	w.CheckRefused(
		stripetest.Refusal{Name: "no such unit", Method: "POST", Path: path, Body: "pending_invoice_item_interval[interval]=hour", Param: "pending_invoice_item_interval[interval]"},
		stripetest.Refusal{Name: "more than a year", Method: "POST", Path: path, Body: "pending_invoice_item_interval[interval]=month&pending_invoice_item_interval[interval_count]=13", Code: "parameter_invalid_integer", Param: "pending_invoice_item_interval[interval_count]"},
		stripetest.Refusal{Name: "no unit", Method: "POST", Path: path, Body: "pending_invoice_item_interval[interval_count]=1", Code: "parameter_missing", Param: "pending_invoice_item_interval[interval]"},
	)
}

// Items that are pending when a period ends are on the invoice of the next period.
func TestPendingItemsAtARenewal(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa", "pending_invoice_item_interval[interval]=month")
	w.Advance(day)
	w.Post("/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][quantity]=2")
	w.Clock.Set(w.Clock.Now().AddDate(0, 1, 0))
	ids := w.IDs("/v1/invoices?subscription=" + sub.At("id"))
	if len(ids) != 2 {
		t.Fatalf("%d invoices", len(ids))
	}
	renewal := w.Get("/v1/invoices/" + ids[0])
	renewal.CheckValues(t, "the renewal", "billing_reason", "subscription_cycle")
	if lines := renewal.List("lines.data"); len(lines) != 3 {
		t.Errorf("%d lines", len(lines))
	}
}
