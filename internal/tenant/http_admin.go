package tenant

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// AdminTenantOwner is the owner in the tenant resource of the admin API.
type AdminTenantOwner struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	Email      string  `json:"email"`
	ExternalID *string `json:"external_id" doc:"ID of the user in your system. Null if not set."`
}

// AdminTenant is the tenant resource of the admin API.
type AdminTenant struct {
	ID                    uuid.UUID         `json:"id"`
	Name                  string            `json:"name"`
	Slug                  string            `json:"slug"`
	ExternalID            *string           `json:"external_id" doc:"ID of the tenant in your system. Null if not set."`
	Metadata              shape.Object      `json:"metadata" doc:"Data of your backend."`
	LegalName             *string           `json:"legal_name"`
	Address               *string           `json:"address"`
	City                  *string           `json:"city"`
	PostalCode            *string           `json:"postal_code"`
	Country               *string           `json:"country"`
	VATNumber             *string           `json:"vat_number"`
	VATStatus             string            `json:"vat_status" enum:"none,pending,valid,invalid,unknown" doc:"Result of the VAT number check."`
	VATName               *string           `json:"vat_name" doc:"Registered name of the business. Null unless the VAT number is valid."`
	BillingEmail          *string           `json:"billing_email"`
	Owner                 *AdminTenantOwner `json:"owner"`
	MemberCount           int64             `json:"member_count"`
	SubscriptionStatus    *string           `json:"subscription_status"`
	PlanName              *string           `json:"plan_name"`
	OnboardingCompletedAt *shape.Time       `json:"onboarding_completed_at"`
	CreatedAt             shape.Time        `json:"created_at"`
	DeletedAt             *shape.Time       `json:"deleted_at,omitempty" doc:"Time of deletion, in UTC. Absent if the tenant is not deleted. A deleted tenant can be restored until its data is purged."`
	Roles                 []RoleName        `json:"roles"`
	MRR                   *money.Money      `json:"mrr" doc:"Monthly recurring revenue. Null without a subscription that counts."`
	MRRBase               *money.Money      `json:"mrr_base" sheet:"own_currency" doc:"Monthly recurring revenue in the base currency, at the latest exchange rate. Null without a base currency or a rate."`
	LastActivityAt        *shape.Time       `json:"last_activity_at" doc:"Last request of a member or an API key of the tenant, exact to five minutes. Null before the first one."`
	TrialEndsAt           *shape.Time       `json:"trial_ends_at" doc:"End of the running trial. Null without one."`
	OpenAmount            []money.Money     `json:"open_amount" doc:"Amount left to pay of open invoices, by currency."`
}

// toBase converts an amount to the base currency. It returns nil if the amount cannot be converted.
type toBase func(money.Money) *money.Money

func adminTenant(ctx context.Context, e AdminEntry, convert toBase) AdminTenant {
	v := AdminTenant{
		ID: e.ID, Name: e.Name, Slug: e.Slug, ExternalID: e.ExternalID, Metadata: shape.Object(e.Metadata), LegalName: e.Billing.LegalName, Address: e.Billing.Address, City: e.Billing.City,
		PostalCode: e.Billing.PostalCode, Country: e.Billing.Country, VATNumber: e.Billing.VATNumber,
		VATStatus: e.VAT.Status, VATName: e.VAT.Name,
		BillingEmail: e.Billing.BillingEmail, Owner: e.Owner, MemberCount: e.MemberCount,
		OnboardingCompletedAt: shape.TP(e.OnboardingCompletedAt), CreatedAt: shape.T(e.CreatedAt),
		DeletedAt: shape.TP(e.DeletedAt), Roles: e.Roles,
		MRR: e.Revenue, LastActivityAt: shape.TP(e.LastActivityAt), TrialEndsAt: shape.TP(e.TrialEndsAt), OpenAmount: append([]money.Money{}, e.Open...),
	}
	if e.Revenue != nil {
		v.MRRBase = convert(*e.Revenue)
	}
	v.SubscriptionStatus, v.PlanName = e.Subscription.StatusAndPlan(i18n.Locale(ctx))
	return v
}

// AdminHTTP has the admin handlers for tenants.
type AdminHTTP struct {
	svc       *Service
	publicURL string
	decimals  sheet.Decimals
	rates     exchangeRates
}

// exchangeRates are the current exchange rates to the base currency. Without a base currency, Factors
// returns nil, and the function of ToBase returns nil.
type exchangeRates interface {
	Factors(ctx context.Context) (map[string]string, error)
	ToBase(ctx context.Context) (func(money.Money) *money.Money, error)
}

// NewAdminHTTP returns the handlers. publicURL is the base of pagination links, without a trailing
// slash. Handlers that do not return tenants need neither decimals nor rates.
func NewAdminHTTP(svc *Service, publicURL string, decimals sheet.Decimals, rates exchangeRates) *AdminHTTP {
	return &AdminHTTP{svc: svc, publicURL: publicURL, decimals: decimals, rates: rates}
}

// view returns the resource of a tenant.
func (h *AdminHTTP) view(ctx context.Context, e AdminEntry) (AdminTenant, error) {
	convert, err := h.rates.ToBase(ctx)
	if err != nil {
		return AdminTenant{}, err
	}
	return adminTenant(ctx, e, convert), nil
}

type adminListInput struct {
	Search  string `query:"search" maxLength:"255" doc:"Part of the name. Not case-sensitive."`
	Deleted bool   `query:"deleted" doc:"Return the deleted tenants that can be restored instead of the active tenants."`
}

// List handles GET /admin/tenants.
func (h *AdminHTTP) List(ctx context.Context, in *adminListInput) (*rest.Body[page.Page[AdminTenant]], error) {
	query := rest.RequestOf(ctx).Query()
	var factors map[string]string
	if strings.Contains(strings.Join(query["sort"], ","), "mrr") {
		var err error
		if factors, err = h.rates.Factors(ctx); err != nil {
			return nil, err
		}
	}
	q, err := AdminTenantList(i18n.Locale(ctx), factors, h.svc.deps.Clock.Now()).Parse(query)
	if err != nil {
		return nil, err
	}
	convert, err := h.rates.ToBase(ctx)
	if err != nil {
		return nil, err
	}
	list := sheet.List[AdminTenant]{Name: "tenants", Decimals: h.decimals, Read: func(ctx context.Context, q page.Query) ([]AdminTenant, int64, error) {
		entries, total, err := h.svc.AdminList(ctx, q, in.Deleted)
		views := make([]AdminTenant, len(entries))
		for i, e := range entries {
			views[i] = adminTenant(ctx, e, convert)
		}
		return views, total, err
	}}
	return sheet.Page(ctx, list, q, h.publicURL+"/api/v1/admin/tenants")
}

type adminInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// Show handles GET /admin/tenants/{tenant}.
func (h *AdminHTTP) Show(ctx context.Context, in *adminInput) (*rest.Data[AdminTenant], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	e, err := h.svc.AdminGet(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := h.view(ctx, e)
	return rest.OK(v), err
}

// Exists rejects a path whose tenant does not exist, before the body is validated.
func (h *AdminHTTP) Exists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("tenant"))
	if err != nil {
		return err
	}
	exists, err := h.svc.Exists(ctx, id)
	if err == nil && !exists {
		err = shape.ErrNotFound
	}
	return err
}

// OwnerFields are the owner in a request.
type OwnerFields struct {
	Email      string  `json:"email" format:"email" maxLength:"255"`
	Name       string  `json:"name,omitempty" format:"name" maxLength:"255" doc:"Name of a new account. Defaults to the part of the email address before the @."`
	Locale     *string `json:"locale,omitempty" nullable:"true" enum:"en,fr,es,it" doc:"Language of a new account and its emails."`
	ExternalID *string `json:"external_id,omitempty" nullable:"true" maxLength:"255" doc:"ID of the user in your system. Unique among users."`
}

// newOwner returns the owner, or nil for nil.
func (f *OwnerFields) newOwner() *account.NewOwner {
	if f == nil {
		return nil
	}
	return &account.NewOwner{Email: f.Email, Name: f.Name, Locale: f.Locale, ExternalID: f.ExternalID}
}

type adminUpdateInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Body   struct {
		TenantFields
		ExternalID shape.Opt[string]       `json:"external_id,omitzero" nullable:"true" maxLength:"255" doc:"ID of the tenant in your system. Unique and case-sensitive."`
		Metadata   shape.Opt[shape.Object] `json:"metadata,omitzero" nullable:"true" maxBytes:"65536" doc:"Merged by key: null removes a key, null for the whole removes all. The result takes at most 16 KiB."`
		Owner      *OwnerFields            `json:"owner,omitempty" doc:"Owner to add. Only for a tenant without an owner."`
	}
}

// change returns the change that a request asks for.
func (h *AdminHTTP) change(ctx context.Context, in *adminUpdateInput) adminChange {
	return adminChange{Owner: in.Body.Owner.newOwner(), Apply: func(t *Tenant) error {
		t.ExternalID = in.Body.ExternalID.Or(t.ExternalID)
		metadata, err := mergeMetadata(t.Metadata, in.Body.Metadata)
		if err == nil {
			t.Metadata = metadata
		}
		return fault.Join(h.svc.apply(in.Body.dropInvalidVATNumber(ctx), t), err)
	}}
}

// CheckUpdate is the check that rest.Checks runs for Update.
func (h *AdminHTTP) CheckUpdate(ctx context.Context, in *adminUpdateInput) error {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return err
	}
	return h.svc.checkAdminUpdate(ctx, id, h.change(ctx, in))
}

// Update handles PATCH /admin/tenants/{tenant}. It can change the fields of PATCH /tenant except
// the slug, and the fields of the operator's backend.
func (h *AdminHTTP) Update(ctx context.Context, in *adminUpdateInput) (*rest.Data[AdminTenant], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.svc.adminUpdate(ctx, id, h.change(ctx, in)); err != nil {
		return nil, err
	}
	e, err := h.svc.AdminGet(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := h.view(ctx, e)
	return rest.OKMessage(v, actionUpdated), err
}

// Dissolve handles DELETE /admin/tenants/{tenant}.
func (h *AdminHTTP) Dissolve(ctx context.Context, in *adminInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Dissolve(ctx, id)
}

type searchInput struct {
	Search string `query:"search" required:"true" minLength:"1" maxLength:"255" doc:"Part of the name. Not case-sensitive."`
}

// TenantRoles is a tenant with the roles that its members can have.
type TenantRoles struct {
	ID    uuid.UUID  `json:"id"`
	Name  string     `json:"name"`
	Roles []RoleName `json:"roles"`
}

// SearchWithRoles handles GET /admin/tenants/search-with-roles. It returns the newest matching
// tenants, at most page.MaxPerPage.
func (h *AdminHTTP) SearchWithRoles(ctx context.Context, in *searchInput) (*rest.Data[[]TenantRoles], error) {
	q, err := AdminTenantList(i18n.Default, nil, time.Time{}).Parse(url.Values{"search": {in.Search}, "per_page": {strconv.Itoa(page.MaxPerPage)}})
	if err != nil {
		return nil, err
	}
	entries, _, err := h.svc.AdminList(ctx, q, false)
	if err != nil {
		return nil, err
	}
	found := make([]TenantRoles, len(entries))
	for i, e := range entries {
		found[i] = TenantRoles{ID: e.ID, Name: e.Name, Roles: e.Roles}
	}
	return rest.OK(found), nil
}
