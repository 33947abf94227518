package customer

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Portal opens the provider's billing portal for a tenant and returns its URL
// (rules: subscription#customer). The portal links back to returnURL, which must be on the
// frontend's host. If it is "", the portal links back to the frontend's billing settings. A flow
// limits the session to one task; "" opens the whole portal. A tenant
// that never opened a checkout has no customer at the provider and is rejected (422).
//
// Opening the portal changes nothing, so its idempotency key is not stored.
func (s *Service) Portal(ctx context.Context, tenantID uuid.UUID, returnURL, flow string) (string, error) {
	if returnURL == "" {
		returnURL = s.deps.BillingPage
	} else if !s.onFrontend(returnURL) {
		return "", errForeignReturnURL
	}
	customerID, err := s.store.byTenant(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return "", errNoCustomer
	}
	if err != nil {
		return "", err
	}
	id := sqldb.NewID()
	address, err := s.deps.Provider.CreatePortal(ctx, psp.PortalParams{
		Key: id.String(), CustomerID: customerID, ReturnURL: returnURL, Locale: i18n.RequestedLocale(ctx), Flow: flow,
	})
	if errors.Is(err, psp.ErrNotFound) {
		return "", errNoCustomer
	}
	if errors.Is(err, psp.ErrPortalUnset) {
		return "", errPortalUnset.Wrap(err)
	}
	if err != nil {
		return "", err
	}
	return address, s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "billing_portal.opened", TenantID: &tenantID, Resource: "billing_portal", ResourceID: id.String(),
		})
	})
}

// onFrontend reports whether a URL has the frontend's host and the same scheme or https.
func (s *Service) onFrontend(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	frontend, err := url.Parse(s.deps.FrontendURL)
	return err == nil && strings.EqualFold(u.Hostname(), frontend.Hostname()) && (u.Scheme == frontend.Scheme || u.Scheme == "https")
}
