package catalog

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP has the handlers of the public catalog (rules: catalog#public-catalog) and of
// the administration of products, plans and features.
type HTTP struct {
	svc       *Service
	publicURL string
	answers   atomic.Pointer[answers]
}

// NewHTTP returns the handlers. publicURL is the URL by which clients reach the
// service; the links of lists begin with it.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{svc: svc, publicURL: strings.TrimSuffix(publicURL, "/")}
}

type noInput struct{}

// Products answers GET /catalog/products.
func (h *HTTP) Products(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]publicProduct], error) {
	return cachedResponse(ctx, h, "products", func(public *Public, locale string) []publicProduct {
		return viewAll(public.Products, func(p Product) publicProduct {
			return publicProduct{ID: p.ID, Name: p.Name.Localize(locale), Slug: p.Slug, Description: localizedOrNil(p.Description, locale)}
		})
	})
}

type plansInput struct {
	Currency string `query:"currency" minLength:"3" maxLength:"3" doc:"Only prices in this currency; all prices when omitted."`
}

// Plans answers GET /catalog/plans. The currency may be in either case. A plan without
// a price in it is listed with no prices.
func (h *HTTP) Plans(ctx context.Context, in *plansInput) (*rest.CachedAnswer[[]PublicPlan], error) {
	public, err := h.svc.Public(ctx)
	if err != nil {
		return nil, err
	}
	currency := currencyOrNone(public, strings.ToUpper(in.Currency))
	return cachedResponse(ctx, h, "plans "+currency, func(public *Public, locale string) []PublicPlan {
		return viewAll(public.Plans, func(p Plan) PublicPlan { return publicPlan(p, public.Metered, locale, currency) })
	})
}

// Features answers GET /catalog/features.
func (h *HTTP) Features(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]publicFeature], error) {
	return cachedResponse(ctx, h, "features", func(public *Public, locale string) []publicFeature {
		return viewAll(public.Features, func(f Feature) publicFeature {
			return publicFeature{ID: f.ID, Code: f.Code, Name: f.Name.Localize(locale), Description: localizedOrNil(f.Description, locale)}
		})
	})
}

// Currencies answers GET /currencies.
func (h *HTTP) Currencies(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]PublicCurrency], error) {
	return cachedResponse(ctx, h, "currencies", func(public *Public, _ string) []PublicCurrency {
		return viewAll(public.Currencies, Currency.Public)
	})
}

// answers has the encoded answers that were made from one public catalog.
type answers struct {
	of     *Public
	stored sync.Map // answerKey → *rest.CachedAnswer[T]
}

type answerKey struct {
	name   string // of the answer; each name has one type T
	locale string
}

// cachedResponse returns the stored answer with a name in the reader's locale. It builds it
// from the public catalog when it is first asked for.
func cachedResponse[T any](ctx context.Context, h *HTTP, name string, build func(public *Public, locale string) T) (*rest.CachedAnswer[T], error) {
	public, err := h.svc.Public(ctx)
	if err != nil {
		return nil, err
	}
	current := h.answers.Load()
	if current == nil || current.of != public {
		current = &answers{of: public}
		h.answers.Store(current) // if two do so at once, one is lost and built again later
	}
	key := answerKey{name: name, locale: i18n.Locale(ctx)}
	if stored, ok := current.stored.Load(key); ok {
		return stored.(*rest.CachedAnswer[T]), nil
	}
	stored, err := rest.NewCachedAnswer(build(public, key.locale), PublicMaxAge)
	if err != nil {
		return nil, err
	}
	current.stored.Store(key, stored)
	return stored, nil
}

// noCurrency stands for every currency that has no price, so that made-up codes share
// one stored answer. It is not a possible code.
const noCurrency = "none"

// currencyOrNone returns the currency if anything is sold in it, else noCurrency; "" stays "".
func currencyOrNone(public *Public, currency string) string {
	if currency == "" {
		return ""
	}
	for _, p := range public.Plans {
		if _, ok := p.PriceIn(currency); ok {
			return currency
		}
	}
	return noCurrency
}

// viewAll returns the view of each item.
func viewAll[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}

// localizedOrNil returns a text in a locale, or nil if there is no text.
func localizedOrNil(text Text, locale string) *string {
	if picked := text.Localize(locale); picked != "" {
		return &picked
	}
	return nil
}

// boolOrTrue reads a field is_active, whose default is true.
func boolOrTrue(is *bool) bool { return is == nil || *is }
