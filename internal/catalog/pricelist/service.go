package pricelist

import (
	"context"
	"errors"
	"slices"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// Deps are the dependencies of the service.
type Deps struct {
	DB         *sqldb.DB
	Catalog    *catalog.Service
	Currencies *currency.Service
	Packs      *pack.Service
	Meters     *meters.Service
}

// Service exports and imports the catalog and the meters of a database. It is safe for concurrent
// use.
type Service struct {
	db         *sqldb.DB
	catalog    *catalog.Service
	currencies *currency.Service
	packs      *pack.Service
	meters     *meters.Service
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{db: d.DB, catalog: d.Catalog, currencies: d.Currencies, packs: d.Packs, meters: d.Meters}
}

// Apply imports c in one transaction, or in the transaction of ctx, with the validation of the
// admin API. It creates missing records and updates existing ones, which keep their IDs. It returns
// the changes, which are empty if c is applied again. With prune, it deletes the records that are
// missing from c, except currencies, records of the payment provider and records that the service
// requires.
//
// If c refers to currencies or features that do not exist, the error joins a *ProblemError for
// each. If a rule forbids a change, the error is a *RefusalError.
func (s *Service) Apply(ctx context.Context, c Catalog, prune bool) (Changes, error) {
	var changes Changes
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		a := applier{Service: s, prune: prune}
		err := a.applyCatalog(ctx, c)
		if err == nil {
			err = a.applyMeters(ctx, c.Meters)
		}
		if err == nil {
			err = a.applyPacks(ctx, c.Packs)
		}
		if err == nil && prune {
			err = a.pruneMeters(ctx, c.Meters) // after the packs that sell their units
		}
		changes = a.changes
		return err
	})
	return changes, err
}

// Preview returns the changes that Apply would make. It applies c and rolls back, so it reports the
// exact changes and the same errors as Apply.
func (s *Service) Preview(ctx context.Context, c Catalog, prune bool) (Changes, error) {
	var changes Changes
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		var err error
		if changes, err = s.Apply(ctx, c, prune); err != nil {
			return err
		}
		return errPreview
	})
	if errors.Is(err, errPreview) {
		err = nil
	}
	return changes, err
}

// ApplyPreviewed applies c if its changes are still the previewed ones, and otherwise returns
// ErrCatalogChanged.
func (s *Service) ApplyPreviewed(ctx context.Context, c Catalog, prune bool, previewed Changes) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		changes, err := s.Apply(ctx, c, prune)
		if err == nil && !slices.Equal(changes, previewed) {
			err = ErrCatalogChanged
		}
		return err
	})
}
