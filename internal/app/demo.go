package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/sandbox"
)

// seedDemo fills a new sandbox with the demo catalog, a platform admin, and the tenant Acme with an
// owner and an active subscription, which it buys on the sandbox's hosted page. own is the URL at
// which the process reaches itself, without a path.
//
// Invariant: seedDemo creates the admin last, so all demo data exists if the admin does. Until
// then, each step continues the work of an interrupted start.
func (svc *service) seedDemo(ctx context.Context, own string) error {
	done, err := svc.accounts.Exists(ctx, sandbox.AdminEmail)
	if err != nil || done {
		return err
	}
	demo, err := pricelist.Demo()
	if err != nil {
		return err
	}
	if _, err := svc.priceList.Apply(ctx, demo, false); err != nil {
		return fmt.Errorf("demo catalog: %w", err)
	}
	if err := svc.seedDefaultPlan(ctx); err != nil {
		return err
	}
	acme, err := svc.seedAcme(ctx)
	if err != nil {
		return fmt.Errorf("demo tenant: %w", err)
	}
	if err := svc.subscribeAcme(ctx, acme, own); err != nil {
		return fmt.Errorf("demo subscription: %w", err)
	}
	_, err = svc.accounts.CreateAdmin(ctx, "Sandbox Admin", sandbox.AdminEmail, sandbox.AdminPassword, nil)
	return err
}

// seedDefaultPlan makes the plan of TENANTRY_DEMO_DEFAULT_PLAN the default plan.
func (svc *service) seedDefaultPlan(ctx context.Context) error {
	slug := svc.settings.DemoDefaultPlan
	if slug == "" {
		return nil
	}
	plan, err := svc.catalog.PlanBySlug(ctx, slug)
	if err == nil {
		_, err = svc.catalog.UpdatePlan(ctx, plan.ID, catalog.PlanChange{Fields: func(p *catalog.Plan) { p.IsDefault = true }})
	}
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		message, args := refused.Message, refused.Args
		if len(refused.Fields) > 0 {
			message, args = refused.Fields[0].Message, refused.Fields[0].Args
		}
		return &settings.Error{
			Name: "TENANTRY_DEMO_DEFAULT_PLAN", Reason: fmt.Sprintf("plan %q: %s", slug, svc.messages.Text(i18n.Default, message, args)),
		}
	}
	return err
}

func (svc *service) seedAcme(ctx context.Context) (uuid.UUID, error) {
	exists, err := svc.accounts.Exists(ctx, sandbox.OwnerEmail)
	if err != nil {
		return uuid.Nil, err
	}
	if !exists {
		_, _, err := svc.accounts.Register(ctx, account.Registration{
			Name: "Acme Owner", Email: sandbox.OwnerEmail, Password: sandbox.OwnerPassword, TenantName: "Acme", EmailVerified: true,
		}, account.Grant{})
		if err != nil {
			return uuid.Nil, err
		}
	}
	user, _, err := svc.accounts.Login(ctx, sandbox.OwnerEmail, sandbox.OwnerPassword, account.Grant{RevokePrevious: true})
	if err != nil {
		return uuid.Nil, err
	}
	memberships, err := svc.accounts.Memberships(ctx, user.ID)
	if err != nil {
		return uuid.Nil, err
	}
	if len(memberships) == 0 {
		return uuid.Nil, errors.New("the demo owner does not have a tenant")
	}
	text := func(s string) *string { return &s }
	t, err := svc.tenants.CompleteSetup(ctx, memberships[0].TenantID, func(b *tenant.BillingDetails) error {
		*b = tenant.BillingDetails{
			LegalName: text("Acme GmbH"), Address: text("Musterstraße 1"), City: text("Berlin"),
			PostalCode: text("10115"), Country: text("DE"), BillingEmail: text("billing@acme.test"),
		}
		return nil
	})
	return t.ID, err
}

// subscribeAcme buys the plan starter the way a customer does: it opens a checkout, pays on the
// hosted page, and waits for the signed notification to activate the subscription.
func (svc *service) subscribeAcme(ctx context.Context, acme uuid.UUID, own string) error {
	if active, err := svc.entitlements.HasActive(ctx, acme); err != nil || active {
		return err
	}
	plan, err := svc.catalog.PlanBySlug(ctx, "starter")
	if err != nil {
		return err
	}
	back := svc.settings.PublicURL.String() + "/sandbox"
	session, err := svc.subscriptions.Checkout(ctx, acme, subscription.CheckoutParams{
		PlanID: plan.ID, Currency: tenant.DefaultCurrency, Quantity: 1, SuccessURL: back, CancelURL: back,
	})
	if err != nil {
		return err
	}
	if err := payAtHostedPage(ctx, own, session.URL); err != nil {
		return err
	}
	for {
		active, err := svc.entitlements.HasActive(ctx, acme)
		if err != nil || active {
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// payAtHostedPage submits the form of a hosted checkout with a valid test card. It requests the
// page at own, because the public address can belong to a proxy that is not running yet.
func payAtHostedPage(ctx context.Context, own, page string) error {
	address, err := url.Parse(page)
	if err != nil {
		return err
	}
	form := url.Values{"card_number": {"4242 4242 4242 4242"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, own+address.Path, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusSeeOther {
		err = fmt.Errorf("the hosted page returned %s", resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}
