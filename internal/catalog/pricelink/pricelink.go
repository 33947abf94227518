// Package pricelink links the prices of plans to prices of the payment provider: it
// creates them there, compares, imports and unlinks them, follows the provider's
// notifications about them, and decides what is sold (rules: catalog#provider-prices).
package pricelink

import (
	"context"
	"log/slog"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Provider is what the package needs of the payment provider; *psp.Client
// implements it.
type Provider interface {
	CreateProduct(ctx context.Context, p psp.ProductParams) (string, error)
	GetProduct(ctx context.Context, id string) (psp.Product, error)
	CreatePrice(ctx context.Context, p psp.PriceParams) (psp.Price, error)
	FindPrice(ctx context.Context, lookupKey string) (psp.Price, error)
	GetPrice(ctx context.Context, id string) (psp.Price, error)
}

// Deps is what the service needs.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Catalog  *catalog.Service
	Provider Provider
	Meters   Meters  // nil where no usage is sold
	Running  Running // nil shows no subscriptions in a status
	Log      *slog.Logger
}

// Service keeps the prices of plans linked to prices of the payment provider. It is
// safe for concurrent use.
//
// Invariants: a link is stored only under the catalog's lock, after comparing what
// the provider sells (currency, amount, interval) with what is sold here now.
// Whoever changes one of those holds the same lock and removes the link. And the
// provider is never called within a transaction.
type Service struct {
	clock    clock.Clock
	catalog  *catalog.Service
	provider Provider
	meters   Meters
	running  Running
	log      *slog.Logger
	store    store
}

// New returns the service.
func New(d Deps) *Service {
	return &Service{
		clock: d.Clock, catalog: d.Catalog, provider: d.Provider, meters: d.Meters, running: d.Running, log: d.Log, store: store{conn: d.DB.Conn},
	}
}
