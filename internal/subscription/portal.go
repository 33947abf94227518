package subscription

import (
	"context"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// billingPage is the frontend's page of billing settings.
const billingPage = "/settings/billing"

// Portal opens the provider's billing portal for a tenant and returns its address.
// It leads back to returnURL, which has to be on the frontend's domain, or with ""
// to the frontend's billing settings. A tenant that the provider does not know,
// because it never opened a checkout, is refused (422).
//
// A visit to the portal changes nothing, so that its key needs not be stored.
func (s *Service) Portal(ctx context.Context, tenantID uuid.UUID, returnURL string) (string, error) {
	if returnURL == "" {
		returnURL = s.deps.FrontendURL + billingPage
	} else if !s.onFrontend(returnURL) {
		return "", errForeignReturnURL
	}
	customer, err := s.store.customer(ctx, tenantID)
	if err != nil {
		return "", err
	}
	if customer == "" {
		return "", errNoCustomer
	}
	id := sqldb.NewID()
	address, err := s.deps.Provider.CreatePortal(ctx, psp.PortalParams{
		Key: id.String(), CustomerID: customer, ReturnURL: returnURL, Locale: i18n.Locale(ctx),
	})
	if err != nil {
		return "", goneOr(err, errNoCustomer)
	}
	return address, s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "billing_portal.opened", TenantID: &tenantID, Resource: "billing_portal", ResourceID: id.String(),
		})
	})
}

// onFrontend tells whether a URL is the frontend's: of its host, and not less
// protected.
func (s *Service) onFrontend(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	frontend, err := url.Parse(s.deps.FrontendURL)
	return err == nil && strings.EqualFold(u.Hostname(), frontend.Hostname()) && (u.Scheme == frontend.Scheme || u.Scheme == "https")
}
