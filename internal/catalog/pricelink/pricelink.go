// Package pricelink links the prices of plans to prices of the payment provider: it creates,
// compares, imports and unlinks them, handles the provider's events about them, and decides which
// plans can be sold (rules: catalog#provider-prices).
package pricelink

import (
	"context"
	"log/slog"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Provider is the part of the payment provider's API that this package uses. *psp.Client implements
// it.
type Provider interface {
	CreateProduct(ctx context.Context, p psp.ProductParams) (string, error)
	GetProduct(ctx context.Context, id string) (psp.Product, error)
	CreatePrice(ctx context.Context, p psp.PriceParams) (psp.Price, error)
	FindPrice(ctx context.Context, lookupKey string) (psp.Price, error)
	GetPrice(ctx context.Context, id string) (psp.Price, error)
}

// Deps are the dependencies of the service.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Catalog  *catalog.Service
	Provider Provider
	Meters   Meters               // nil if usage is not sold
	Running  RunningSubscriptions // nil omits subscriptions from the status
	Log      *slog.Logger
}

// Service links the prices of plans to prices of the payment provider. It is safe for concurrent
// use.
//
// Invariants: a link is stored only under the catalog lock, after comparing the provider's price
// (currency, amount, interval) with the current local price. Changes of these terms take the same
// lock and remove the link. The provider is never called within a transaction.
type Service struct {
	clock    clock.Clock
	catalog  *catalog.Service
	provider Provider
	meters   Meters
	running  RunningSubscriptions
	log      *slog.Logger
	store    store
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{
		clock: d.Clock, catalog: d.Catalog, provider: d.Provider, meters: d.Meters, running: d.Running, log: d.Log, store: store{conn: d.DB.Conn},
	}
}
