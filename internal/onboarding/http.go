// Package onboarding takes a new customer from registration to the first subscription
// (rules: onboarding).
package onboarding

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/tenant"
)

// HTTP handles the onboarding endpoints.
type HTTP struct {
	svc      *Service
	accounts *account.HTTP
}

// NewHTTP returns the handlers. accounts writes the login response.
func NewHTTP(svc *Service, accounts *account.HTTP) *HTTP { return &HTTP{svc: svc, accounts: accounts} }

type startInput struct {
	Body struct {
		Name                 string `json:"name" format:"name" maxLength:"255"`
		Email                string `json:"email" format:"email" maxLength:"255"`
		Password             string `json:"password" format:"password" minLength:"8" maxLength:"1024"`
		PasswordConfirmation string `json:"password_confirmation" format:"password"`
		TenantName           string `json:"tenant_name,omitempty" format:"name" maxLength:"255" doc:"Name of the new tenant. Default: the user's name."`
		PlanSlug             string `json:"plan_slug" maxLength:"255"`
		Currency             string `json:"currency" minLength:"3" maxLength:"3"`
		Quantity             *int64 `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: 1."`
		promotionField
		BillingFields
	}
}

// BillingFields are the billing details in a request. Absent fields stay as they are.
type BillingFields struct {
	LegalName    shape.Opt[string] `json:"legal_name,omitzero" nullable:"true" format:"name" maxLength:"255"`
	Address      shape.Opt[string] `json:"address,omitzero" nullable:"true" format:"multiline" maxLength:"255"`
	City         shape.Opt[string] `json:"city,omitzero" nullable:"true" format:"name" maxLength:"255"`
	PostalCode   shape.Opt[string] `json:"postal_code,omitzero" nullable:"true" maxLength:"20"`
	Country      shape.Opt[string] `json:"country,omitzero" nullable:"true" format:"country"`
	VATNumber    shape.Opt[string] `json:"vat_number,omitzero" nullable:"true" maxLength:"50"`
	BillingEmail shape.Opt[string] `json:"billing_email,omitzero" nullable:"true" format:"email" maxLength:"255"`
}

// apply changes billing details. It returns an error if the VAT number is invalid.
func (f BillingFields) apply(tenants *tenant.Service, b *tenant.BillingDetails) error {
	b.LegalName, b.Address, b.City = f.LegalName.Or(b.LegalName), f.Address.Or(b.Address), f.City.Or(b.City)
	b.PostalCode, b.Country = f.PostalCode.Or(b.PostalCode), f.Country.Or(b.Country)
	b.BillingEmail = f.BillingEmail.Or(b.BillingEmail)
	return tenants.SetVATNumber(b, f.VATNumber)
}

// dropInvalidVATNumber drops the VAT number if its country is invalid.
func (f BillingFields) dropInvalidVATNumber(ctx context.Context) BillingFields {
	if rest.IsBroken(ctx, "country") {
		f.VATNumber = shape.Opt[string]{}
	}
	return f
}

// promotionField is the promotion code of a request.
type promotionField struct {
	PromotionCode *string `json:"promotion_code,omitempty" nullable:"true" maxLength:"255" doc:"Promotion code, in any case. Null or empty for none."`
}

// addTo returns a choice with the promotion code.
func (f promotionField) addTo(c Choice) Choice {
	if f.PromotionCode != nil {
		c.PromotionCode = *f.PromotionCode
	}
	return c
}

func choice(plan, currency string, quantity *int64) Choice {
	c := Choice{PlanSlug: plan, Currency: strings.ToUpper(currency), Quantity: 1}
	if quantity != nil {
		c.Quantity = *quantity
	}
	return c
}

// StartedOnboarding is the response to a start, without a data envelope (rules: onboarding#start).
// In cookie mode it omits the tokens.
type StartedOnboarding struct {
	account.Session
	Tenant      tenant.TenantView `json:"tenant"`
	CheckoutURL *string           `json:"checkout_url" doc:"URL of the hosted checkout page. Null for the default plan, which does not need a checkout."`
}

// CheckStart is the rest.Checks check for Start.
func (h *HTTP) CheckStart(ctx context.Context, in *startInput) error {
	b := in.Body
	wrongNumber := b.dropInvalidVATNumber(ctx).apply(h.svc.deps.Tenants, new(tenant.BillingDetails))
	_, err := h.svc.checkFields(ctx, choice(b.PlanSlug, b.Currency, nil), b.Email, wrongNumber)
	return fault.Join(err, account.CheckNewPassword(b.Password))
}

// Start handles POST /onboarding/start.
func (h *HTTP) Start(ctx context.Context, in *startInput) (*rest.Body[StartedOnboarding], error) {
	grant := account.GrantOf(ctx)
	var billing tenant.BillingDetails
	wrongNumber := in.Body.apply(h.svc.deps.Tenants, &billing)
	started, err := h.svc.Start(ctx, account.Registration{
		Name: in.Body.Name, Email: in.Body.Email, Password: in.Body.Password, TenantName: in.Body.TenantName,
	}, Billing{billing, wrongNumber}, in.Body.addTo(choice(in.Body.PlanSlug, in.Body.Currency, in.Body.Quantity)), grant)
	if err != nil {
		return nil, err
	}
	view, err := h.svc.deps.Tenants.View(withOwner(ctx, started.User, started.Tenant.ID, started.Tenant.Name), started.Tenant)
	if err != nil {
		return nil, err
	}
	session, err := h.accounts.SessionOf(ctx, started.User, started.Tokens, grant)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(StartedOnboarding{Session: session, Tenant: view, CheckoutURL: started.CheckoutURL}), nil
}

type previewInput struct {
	Body struct {
		PlanSlug  string            `json:"plan_slug" maxLength:"255"`
		Currency  string            `json:"currency" minLength:"3" maxLength:"3"`
		Quantity  *int64            `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: 1."`
		Country   shape.Opt[string] `json:"country,omitzero" nullable:"true" format:"country"`
		VATNumber shape.Opt[string] `json:"vat_number,omitzero" nullable:"true" maxLength:"50"`
		promotionField
	}
}

// billing returns the billing details of a preview, and the error if its VAT number is invalid.
func (h *HTTP) billing(ctx context.Context, in *previewInput) (b tenant.BillingDetails, err error) {
	fields := BillingFields{Country: in.Body.Country, VATNumber: in.Body.VATNumber}
	err = fields.dropInvalidVATNumber(ctx).apply(h.svc.deps.Tenants, &b)
	return b, err
}

// CheckPreview is the rest.Checks check for Preview.
func (h *HTTP) CheckPreview(ctx context.Context, in *previewInput) error {
	_, wrongNumber := h.billing(ctx, in)
	_, err := h.svc.checkFields(ctx, choice(in.Body.PlanSlug, in.Body.Currency, nil), "", wrongNumber)
	return err
}

// Preview handles POST /onboarding/preview.
func (h *HTTP) Preview(ctx context.Context, in *previewInput) (*rest.Data[subscription.PurchasePreview], error) {
	billing, wrongNumber := h.billing(ctx, in)
	preview, err := h.svc.Preview(ctx, Billing{billing, wrongNumber}, in.Body.addTo(choice(in.Body.PlanSlug, in.Body.Currency, in.Body.Quantity)))
	if err != nil {
		return nil, err
	}
	return rest.OK(preview), nil
}

type retryInput struct {
	Body struct {
		PlanSlug string `json:"plan_slug" maxLength:"255"`
		Currency string `json:"currency" minLength:"3" maxLength:"3"`
		Quantity *int64 `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: 1."`
		promotionField
	}
}

// OnboardingCheckout is the checkout that a retry opened.
type OnboardingCheckout struct {
	CheckoutURL *string `json:"checkout_url" doc:"URL of the hosted checkout page. Null for the default plan, which does not need a checkout."`
}

// CheckRetry is the rest.Checks check for RetryCheckout.
func (h *HTTP) CheckRetry(ctx context.Context, in *retryInput) error {
	_, err := h.svc.checkFields(ctx, choice(in.Body.PlanSlug, in.Body.Currency, nil), "", nil)
	return err
}

// RetryCheckout handles POST /onboarding/retry-checkout.
func (h *HTTP) RetryCheckout(ctx context.Context, in *retryInput) (*rest.Data[OnboardingCheckout], error) {
	page, err := h.svc.Retry(ctx, authz.TenantID(ctx), in.Body.addTo(choice(in.Body.PlanSlug, in.Body.Currency, in.Body.Quantity)))
	if err != nil {
		return nil, err
	}
	return rest.OK(OnboardingCheckout{CheckoutURL: page}), nil
}

// OnboardingBilling are the billing details of a tenant.
type OnboardingBilling struct {
	LegalName    *string `json:"legal_name"`
	Address      *string `json:"address"`
	City         *string `json:"city"`
	PostalCode   *string `json:"postal_code"`
	Country      *string `json:"country"`
	VATNumber    *string `json:"vat_number"`
	BillingEmail *string `json:"billing_email"`
}

// OnboardingStatus is the progress of an onboarding, without a data envelope.
type OnboardingStatus struct {
	TenantID            uuid.UUID         `json:"tenant_id"`
	OnboardingCompleted bool              `json:"onboarding_completed"`
	HasSubscription     bool              `json:"has_subscription"`
	SubscriptionStatus  *string           `json:"subscription_status"`
	PlanName            *string           `json:"plan_name"`
	HasBillingDetails   bool              `json:"has_billing_details"`
	BillingDetails      OnboardingBilling `json:"billing_details"`
}

// Status handles GET /onboarding/status.
func (h *HTTP) Status(ctx context.Context, _ *struct{}) (*rest.Body[OnboardingStatus], error) {
	t, sub, err := h.svc.Status(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	status := OnboardingStatus{
		TenantID: t.ID, OnboardingCompleted: t.OnboardingCompletedAt != nil, HasBillingDetails: t.Billing.Complete(),
		BillingDetails: OnboardingBilling(t.Billing),
	}
	status.HasSubscription = sub.IsSubscribed()
	status.SubscriptionStatus, status.PlanName = sub.StatusAndPlan(i18n.Locale(ctx))
	return rest.NewBody(status), nil
}

type completeSetupInput struct {
	Body struct{ BillingFields }
}

// CheckSetup is the rest.Checks check for CompleteSetup.
func (h *HTTP) CheckSetup(ctx context.Context, in *completeSetupInput) error {
	t, err := h.svc.deps.Tenants.Get(ctx, authz.TenantID(ctx))
	if err != nil {
		return err
	}
	return in.Body.dropInvalidVATNumber(ctx).apply(h.svc.deps.Tenants, &t.Billing)
}

// CompleteSetup handles PATCH /onboarding/complete-setup.
func (h *HTTP) CompleteSetup(ctx context.Context, in *completeSetupInput) (*rest.Data[tenant.TenantView], error) {
	tenants := h.svc.deps.Tenants
	t, err := tenants.CompleteSetup(ctx, authz.TenantID(ctx), func(b *tenant.BillingDetails) error { return in.Body.apply(tenants, b) })
	if err != nil {
		return nil, err
	}
	v, err := tenants.Show(ctx, t)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(v, "onboarding.setup_completed"), nil
}
