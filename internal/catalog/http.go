package catalog

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP has the handlers of the public catalog (rules: catalog#public-catalog) and of the admin API
// for products, plans and features.
type HTTP struct {
	svc       *Service
	publicURL string
	answers   atomic.Pointer[cachedAnswers]
}

// NewHTTP returns the handlers. publicURL is the service's public base URL, which prefixes the
// links in lists.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{svc: svc, publicURL: strings.TrimSuffix(publicURL, "/")}
}

type noInput struct{}

// Products handles GET /catalog/products.
func (h *HTTP) Products(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]publicProduct], error) {
	return cachedResponse(ctx, h, "products", func(public *PublicCatalog, locale string) []publicProduct {
		return viewAll(public.Products, func(p Product) publicProduct {
			return publicProduct{ID: p.ID, Name: p.Name.Localize(locale), Slug: p.Slug, Description: localizedOrNil(p.Description, locale)}
		})
	})
}

type plansInput struct {
	Currency string `query:"currency" minLength:"3" maxLength:"3" doc:"Return only prices in this currency. Default: all currencies."`
}

// Plans handles GET /catalog/plans. The currency is case-insensitive. A plan without a price in the
// currency is listed with an empty price list.
func (h *HTTP) Plans(ctx context.Context, in *plansInput) (*rest.CachedAnswer[[]PublicPlan], error) {
	public, err := h.svc.Public(ctx)
	if err != nil {
		return nil, err
	}
	currency := currencyOrNone(public, strings.ToUpper(in.Currency))
	return cachedResponse(ctx, h, "plans "+currency, func(public *PublicCatalog, locale string) []PublicPlan {
		return viewAll(public.Plans, func(p Plan) PublicPlan { return publicPlan(p, public.Metered, locale, currency) })
	})
}

// Features handles GET /catalog/features.
func (h *HTTP) Features(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]publicFeature], error) {
	return cachedResponse(ctx, h, "features", func(public *PublicCatalog, locale string) []publicFeature {
		return viewAll(public.Features, func(f Feature) publicFeature {
			return publicFeature{ID: f.ID, Code: f.Code, Name: f.Name.Localize(locale), Description: localizedOrNil(f.Description, locale)}
		})
	})
}

// Currencies handles GET /currencies.
func (h *HTTP) Currencies(ctx context.Context, _ *noInput) (*rest.CachedAnswer[[]PublicCurrency], error) {
	return cachedResponse(ctx, h, "currencies", func(public *PublicCatalog, _ string) []PublicCurrency {
		return viewAll(public.Currencies, Currency.Public)
	})
}

// cachedAnswers caches the encoded responses for one version of the public catalog.
type cachedAnswers struct {
	of     *PublicCatalog
	stored sync.Map // answerKey → *rest.CachedAnswer[T]
}

type answerKey struct {
	name   string // of the response; each name has one type T
	locale string
}

// cachedResponse returns the cached response with the name in the caller's locale. On the first
// request, it builds the response from the public catalog.
func cachedResponse[T any](ctx context.Context, h *HTTP, name string, build func(public *PublicCatalog, locale string) T) (*rest.CachedAnswer[T], error) {
	public, err := h.svc.Public(ctx)
	if err != nil {
		return nil, err
	}
	current := h.answers.Load()
	if current == nil || current.of != public {
		current = &cachedAnswers{of: public}
		h.answers.Store(current) // if two requests do this concurrently, one cache is lost and rebuilt later
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

// noCurrency replaces all currencies without prices, so that unknown codes share one cached
// response. It is not a valid code.
const noCurrency = "none"

// currencyOrNone returns the currency if a plan has a price in it, or else noCurrency. It returns
// "" for "".
func currencyOrNone(public *PublicCatalog, currency string) string {
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

// viewAll maps items to their views.
func viewAll[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}

// localizedOrNil returns the text in a locale, or nil if the text is empty.
func localizedOrNil(text Text, locale string) *string {
	if picked := text.Localize(locale); picked != "" {
		return &picked
	}
	return nil
}

// boolOrTrue returns the value of an is_active field, which defaults to true.
func boolOrTrue(is *bool) bool { return is == nil || *is }
