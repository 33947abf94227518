package catalog

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// DefaultPlan returns the plan of tenants without a subscription that sets limits, or ErrNotFound
// if no plan is the default.
func (s *Service) DefaultPlan(ctx context.Context) (Plan, error) { return s.store.defaultPlan(ctx) }

// fieldsAgainstDefault returns the fields that prevent a plan from being the default plan
// (rules: catalog#default-plan).
func (p Plan) fieldsAgainstDefault() []string {
	var fields []string
	if p.PricingType != PricingFlat {
		fields = append(fields, "pricing_type")
	}
	if slices.ContainsFunc(p.Prices, func(price Price) bool { return price.PriceCents > 0 }) {
		fields = append(fields, "prices")
	}
	if p.TrialDays > 0 {
		fields = append(fields, "trial_days")
	}
	if !p.IsActive {
		fields = append(fields, "is_active")
	}
	return fields
}

// checkDefault adds to broken the fields that violate a rule of the default plan after a change
// from old to next. If the change itself makes a rule apply, for example by setting is_default, the
// error is on that field. Otherwise it is on the field that violates the rule. isPart means that
// the change is one of several, and that the caller calls CheckTrialsWithoutCard after the last
// change.
func (s *Service) checkDefault(ctx context.Context, old, next Plan, isPart bool, broken *fault.Fields) error {
	current, err := s.store.defaultPlan(ctx)
	if errors.Is(err, ErrNotFound) {
		current, err = Plan{}, nil
	}
	if err != nil {
		return err
	}
	hasOther := current.ID != uuid.Nil && current.ID != next.ID
	against := next.fieldsAgainstDefault()
	switch {
	case next.IsDefault && old.IsDefault:
		for _, field := range against {
			broken.Add(field, "validation.of_default_plan")
		}
	case next.IsDefault && hasOther:
		broken.Add("is_default", "validation.other_default_plan")
	case next.IsDefault && len(against) > 0:
		broken.Add("is_default", "validation.default_plan")
	case old.IsDefault && !next.IsDefault && !isPart:
		needed, err := s.store.hasTrialWithoutCard(ctx, next.ID)
		if err != nil {
			return err
		}
		if needed {
			broken.Add("is_default", "validation.default_plan_needed")
		}
	}
	switch {
	case next.CardForTrial:
	case next.TrialDays == 0 && !old.CardForTrial:
		broken.Add("trial_days", "validation.trial_without_card")
	case next.TrialDays == 0, !hasOther && !isPart:
		broken.Add("trial_requires_card", "validation.trial_without_card")
	}
	return nil
}

// CheckTrialsWithoutCard refuses a catalog in which a plan offers a trial without a card and no
// plan is the default.
func (s *Service) CheckTrialsWithoutCard(ctx context.Context) error {
	if _, err := s.store.defaultPlan(ctx); !errors.Is(err, ErrNotFound) {
		return err
	}
	needed, err := s.store.hasTrialWithoutCard(ctx, uuid.Nil)
	if err == nil && needed {
		err = fault.OnField("is_default", "validation.default_plan_needed")
	}
	return err
}
