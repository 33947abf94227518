package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Feature returns a feature that is not deleted, or ErrNotFound.
func (s *Service) Feature(ctx context.Context, id uuid.UUID) (Feature, error) {
	return s.store.feature(ctx, id)
}

// CreateFeature adds a feature and sets its ID and times. It returns a 422 error on code if another
// feature has the code.
func (s *Service) CreateFeature(ctx context.Context, f Feature) (Feature, error) {
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		f.ID, f.CreatedAt, f.UpdatedAt = sqldb.NewID(), now, now
		if err := s.checkFeature(ctx, Feature{}, f); err != nil {
			return err
		}
		if err := s.store.insertFeature(ctx, f); err != nil {
			return err
		}
		return s.Record(ctx, "feature", "created", f.ID, nil, recordedFeature(f))
	})
	return f, err
}

// UpdateFeature changes a feature, with the validation of CreateFeature. Changing the code of a
// system feature is a 422 error, because the service looks it up by code.
func (s *Service) UpdateFeature(ctx context.Context, id uuid.UUID, change func(*Feature)) (Feature, error) {
	var f Feature
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		old, err := s.store.feature(ctx, id)
		if err != nil {
			return err
		}
		f = old
		f.UpdatedAt = now
		change(&f)
		if err := s.checkFeature(ctx, old, f); err != nil {
			return err
		}
		if err := s.store.saveFeature(ctx, f); err != nil {
			return err
		}
		return s.Record(ctx, "feature", "updated", id, recordedFeature(old), recordedFeature(f))
	})
	return f, err
}

// CheckFeature validates the fields of a new feature as CreateFeature does.
func (s *Service) CheckFeature(ctx context.Context, f Feature) error {
	return s.checkFeature(ctx, Feature{}, f)
}

// CheckFeatureChange validates a change as UpdateFeature does.
func (s *Service) CheckFeatureChange(ctx context.Context, id uuid.UUID, change func(*Feature)) error {
	old, err := s.store.feature(ctx, id)
	if err != nil {
		return err
	}
	f := old
	change(&f)
	return s.checkFeature(ctx, old, f)
}

// DeleteFeature deletes a feature and its entitlements. Its row remains for the history that refers
// to it, and its code becomes available. Deleting a feature that plans grant also requires the
// permission to delete entitlements. It returns errSystemFeature for a feature that the service
// requires, and errInUse if a plan that grants it has an active subscription.
func (s *Service) DeleteFeature(ctx context.Context, id uuid.UUID) error {
	return s.Change(ctx, func(ctx context.Context, now time.Time) error {
		f, err := s.store.feature(ctx, id)
		if err != nil {
			return err
		}
		if f.IsSystem {
			return errSystemFeature
		}
		plans, err := s.store.lockPlansOfFeature(ctx, id)
		if err != nil {
			return err
		}
		if len(plans) > 0 {
			if err := requirePermission(ctx, "entitlements.delete"); err != nil {
				return err
			}
		}
		if err := s.requireUnused(ctx, plans...); err != nil {
			return err
		}
		if err := s.store.deleteFeature(ctx, id, now); err != nil {
			return err
		}
		return s.Record(ctx, "feature", "deleted", id, recordedFeature(f), nil)
	})
}

// checkFeature returns the invalid fields of a feature. old is its current state, or the zero value
// for a new feature.
func (s *Service) checkFeature(ctx context.Context, old, f Feature) error {
	var broken fault.Fields
	checkTexts(&broken, f.Name, f.Description)
	other, err := s.store.featureByCode(ctx, f.Code)
	switch {
	case old.IsSystem && f.Code != old.Code:
		broken.Add("code", "validation.fixed")
	case err == nil && other.ID != f.ID:
		broken.Add("code", "validation.taken")
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	return broken.Err()
}

// recordedFeature returns the feature's fields for the audit log, under their API names.
func recordedFeature(f Feature) map[string]any {
	return map[string]any{
		"code": f.Code, "name": f.Name, "description": f.Description, "is_active": f.IsActive, "sort_order": f.SortOrder, "metadata": f.Metadata,
	}
}
