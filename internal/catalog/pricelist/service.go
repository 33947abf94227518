package pricelist

import (
	"context"
	"errors"
	"slices"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// Deps is what the service needs.
type Deps struct {
	DB         *sqldb.DB
	Catalog    *catalog.Service
	Currencies *currency.Service
	Meters     *meters.Service
}

// Service exports the catalog and the meters of a database, and brings those of a
// file into it. It is safe for concurrent use.
type Service struct {
	db         *sqldb.DB
	catalog    *catalog.Service
	currencies *currency.Service
	meters     *meters.Service
}

// New returns the service.
func New(d Deps) *Service {
	return &Service{db: d.DB, catalog: d.Catalog, currencies: d.Currencies, meters: d.Meters}
}

// Apply brings c into the database in one transaction, or in that of ctx, by the
// rules of the administration: what is missing is created, and what differs is
// changed and keeps its id. It returns what it changed, which is nothing when c is
// applied again. With prune it deletes what c does not name, except currencies,
// records of the payment provider and what the service itself needs.
//
// The error joins one *ProblemError for each currency or feature that c refers to
// and that does not exist, or it is a *RefusalError where a rule forbids a change.
func (s *Service) Apply(ctx context.Context, c Catalog, prune bool) (Changes, error) {
	var changes Changes
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		a := applier{Service: s, prune: prune}
		err := a.applyCatalog(ctx, c)
		if err == nil {
			err = a.applyMeters(ctx, c.Meters)
		}
		changes = a.changes
		return err
	})
	return changes, err
}

// Preview returns what Apply would change. It applies c and rolls that back, so that
// a refusal is known before, and what is shown is what will be done.
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

// ApplyPreviewed applies c if that still changes what was previewed, else it is
// ErrChanged.
func (s *Service) ApplyPreviewed(ctx context.Context, c Catalog, prune bool, previewed Changes) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		changes, err := s.Apply(ctx, c, prune)
		if err == nil && !slices.Equal(changes, previewed) {
			err = ErrCatalogChanged
		}
		return err
	})
}
