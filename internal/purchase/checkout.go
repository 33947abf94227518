package purchase

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp/sale"
	"github.com/tenantry/tenantry/internal/tenant"
)

var (
	errNoPrice         = fault.OnField("currency", "validation.pack_currency")
	errUnknownCurrency = fault.OnField("currency", "validation.exists")
	errBillingNotReady = fault.NewCoded(fault.Invalid, fault.BillingNotReady)
)

// Metadata keys of a sale at the provider, so that its notifications lead to the purchase.
const (
	metaTenant   = "tenant_id"
	metaPurchase = "purchase_id"
)

// continueWindow is how long a retry continues a checkout whose request was never answered. The
// provider repeats a failure for the same key, which must not prevent a tenant from paying.
const continueWindow = 10 * time.Minute

// slugForm is the format of slugs.
var slugForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

// params is a tenant's request to buy packs.
type params struct {
	slug                  string
	currency              string
	quantity              int64
	successURL, cancelURL string
}

// onSale returns an active pack with its prices in active currencies, or catalog.ErrNotFound.
func (s *Service) onSale(ctx context.Context, slug string) (pack.Pack, error) {
	if !slugForm.MatchString(slug) {
		return pack.Pack{}, catalog.ErrNotFound
	}
	return s.deps.Packs.OnSaleBySlug(ctx, slug)
}

// selectPrice returns a pack on sale and its price in a currency.
func (s *Service) selectPrice(ctx context.Context, slug, currency string) (pack.Pack, pack.Price, error) {
	p, err := s.onSale(ctx, slug)
	if err != nil {
		return p, pack.Price{}, err
	}
	price, ok := p.PriceIn(currency)
	if ok {
		return p, price, nil
	}
	exists, err := s.deps.Currencies.CurrencyExists(ctx, currency)
	switch {
	case err != nil:
	case exists:
		err = errNoPrice
	default:
		err = errUnknownCurrency
	}
	return p, price, err
}

// checkout opens a hosted checkout for packs.
//
// Invariant: the purchase is committed before the provider is called, and its ID is the idempotency
// key. So no failure leaves a session that the service does not know about.
func (s *Service) checkout(ctx context.Context, tenantID uuid.UUID, in params) (sale.Sale, error) {
	p, price, err := s.selectPrice(ctx, in.slug, in.currency)
	if err != nil {
		return sale.Sale{}, err
	}
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return sale.Sale{}, err
	}
	if missing := t.Billing.MissingFields(); len(missing) > 0 {
		return sale.Sale{}, errBillingNotReady.With("missing_fields", missing)
	}
	if err := s.deps.Prices.CheckAmount(ctx, price.Currency, price.PriceCents, in.quantity); err != nil {
		return sale.Sale{}, err
	}
	wanted, err := s.saleParams(ctx, t, p, price, in)
	if err != nil {
		return sale.Sale{}, err
	}
	bought := purchase{
		tenantID: tenantID, packID: p.ID, slug: p.Slug, featureCode: p.FeatureCode, amount: p.Amount, expiresAfterDays: p.ExpiresAfterDays,
		currency: price.Currency, priceCents: price.PriceCents, quantity: in.quantity,
	}
	if bought, err = s.begin(ctx, bought, wanted); err != nil {
		return sale.Sale{}, err
	}
	wanted.Key = bought.id.String()
	wanted.Metadata = map[string]string{metaTenant: tenantID.String(), metaPurchase: bought.id.String()}
	opened, err := s.deps.Sales.Open(ctx, wanted)
	if err != nil {
		return sale.Sale{}, s.deps.Prices.ExplainAmount(err)
	}
	return opened, s.storeSession(ctx, bought, opened.SessionID)
}

// saleParams returns the parameters of a checkout, except the key and the metadata, which depend on
// the purchase's ID. It creates the customer at the provider if it is missing. The name is in the
// tenant's language, which is the language of the invoice.
func (s *Service) saleParams(ctx context.Context, t tenant.Tenant, p pack.Pack, price pack.Price, in params) (sale.Params, error) {
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return sale.Params{}, err
	}
	wanted := sale.Params{
		Name: p.Name.Localize(locale), Currency: price.Currency, UnitAmount: price.PriceCents, Quantity: in.quantity,
		SuccessURL: in.successURL, CancelURL: in.cancelURL, Locale: i18n.RequestedLocale(ctx),
	}
	wanted.CustomerID, err = s.deps.Customers.Ensure(ctx, t)
	return wanted, err
}

// begin stores a purchase that is about to be opened and returns it with its ID. If an earlier
// attempt was never answered, the next request for the same purchase within continueWindow continues
// that attempt. Even concurrent requests open only one session, because the ID is derived from the
// purchase and from the last answered purchase of the pack.
func (s *Service) begin(ctx context.Context, bought purchase, wanted sale.Params) (purchase, error) {
	last, err := s.store.lastAnswered(ctx, bought.tenantID, bought.packID)
	if err != nil && !errors.Is(err, errNoPurchase) {
		return bought, err
	}
	now := s.deps.Clock.Now()
	for n := 0; ; n++ {
		days := int32(0)
		if bought.expiresAfterDays != nil {
			days = *bought.expiresAfterDays
		}
		bought.id = uuid.NewHash(sha256.New(), bought.tenantID, fmt.Appendf(nil, "pack %s %d %s %s %d %d %#v",
			last, n, bought.packID, bought.featureCode, bought.amount, days, wanted), 8)
		if err := s.store.insert(ctx, bought, now); err != nil {
			return bought, err
		}
		stored, err := s.store.load(ctx, bought.tenantID, bought.id)
		if err != nil {
			return bought, err
		}
		if now.Sub(stored.createdAt) < continueWindow && !stored.completed && !stored.ended {
			return stored, nil
		}
	}
}

// storeSession stores the session of a purchase and records it in the audit trail.
func (s *Service) storeSession(ctx context.Context, bought purchase, session string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		first, err := s.store.setSession(ctx, bought, session, s.deps.Clock.Now())
		if err != nil || !first {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "checkout.opened", TenantID: &bought.tenantID, Resource: "checkout", ResourceID: bought.id.String(),
			After: map[string]any{"pack": bought.slug, "currency": bought.currency, "quantity": bought.quantity},
		})
	})
}
