package tenantrytest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/tenantrytest"
)

const day = 24 * time.Hour

// A customer subscribes, renews and stops paying. The test checks the status, emails and webhooks.
func TestCustomerThroughTime(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	hooks := s.Webhooks(api.WebhookEventTypeSubscriptionPastDue, api.WebhookEventTypeInvoicePaid)
	ada := s.Register("ada@example.com")
	s.Subscribe(ada, "starter")
	first := hooks.Await(api.WebhookEventTypeInvoicePaid, ada.Tenant)
	var invoice api.Invoice
	if err := first.Decode(&invoice); err != nil || invoice.TenantID != ada.Tenant || invoice.Status != api.InvoiceStatusPaid {
		t.Fatalf("the first invoice is %+v", invoice)
	}
	status := func() api.SubscriptionStatus {
		t.Helper()
		answer, err := ada.ShowSubscription(t.Context(), ada.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		subscription, err := answer.Data.Get()
		if err != nil {
			t.Fatal(err)
		}
		return subscription.Status
	}
	s.Advance(32 * day)
	if got := status(); got != api.SubscriptionStatusActive {
		t.Errorf("after a renewal: got %s", got)
	}
	s.FailPayments(ada, true)
	s.Advance(32 * day)
	if got := status(); got != api.SubscriptionStatusPastDue {
		t.Errorf("with a card that fails: got %s", got)
	}
	hooks.Await(api.WebhookEventTypeSubscriptionPastDue, ada.Tenant)
	s.AwaitMail(ada.Email, func(m tenantrytest.Mail) bool { return strings.Contains(m.Text, "payment") })
}

// The default plan applies without a purchase.
func TestDefaultPlan(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	ada := s.Register("ada@example.com")
	s.Subscribe(ada, "free")
	if answer, err := ada.ShowSubscription(t.Context(), ada.Tenant); err != nil || !answer.Data.IsNull() {
		t.Errorf("the subscription is %+v, %v", answer, err)
	}
	if quota := used(t, ada, "api-calls"); quota != "0" {
		t.Errorf("%s calls are used", quota)
	}
}

// Servers are isolated from each other.
func TestServersAreApart(t *testing.T) {
	t.Parallel()
	a, b := tenantrytest.Start(t), tenantrytest.Start(t)
	a.Register("ada@example.com")
	_, err := b.Client(client.WithLogin("ada@example.com", "correct horse battery")).ShowProfile(t.Context())
	if client.StatusOf(err) != 401 {
		t.Errorf("account of another server: %v", err)
	}
	a.Advance(48 * time.Hour)
	if apart := a.Now().Sub(b.Now()); apart < 47*time.Hour {
		t.Errorf("the clocks differ by %s", apart)
	}
}

// The demo tenant exists, and the admin can see it.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := tenantrytest.Start(t)
	acme := s.Owner()
	var found bool
	for tenant, err := range s.Admin().AdminListTenantsAll(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		found = found || tenant.ID == acme.Tenant
	}
	if !found {
		t.Error("the administrator does not see Acme")
	}
}

// Rate limits are off unless the test enables them.
func TestRateLimits(t *testing.T) {
	t.Parallel()
	limited := tenantrytest.Start(t, tenantrytest.WithRateLimits())
	wrong := api.LoginRequest{Email: "nobody@example.com", Password: "wrong password"}
	statuses := map[int]int{}
	once := limited.Client(client.WithAttempts(1))
	for range 8 {
		_, err := once.Login(t.Context(), wrong)
		statuses[client.StatusOf(err)]++
	}
	if statuses[429] == 0 || statuses[401] == 0 {
		t.Errorf("8 wrong logins give %v", statuses)
	}
}
