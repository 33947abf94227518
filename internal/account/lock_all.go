package account

import (
	"context"
	"errors"
	"slices"
)

// LockAll locks users in their order until the transaction of ctx ends. Those who are gone
// are left out.
func (s *Service) LockAll(ctx context.Context, ids []int64) error {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	for _, id := range slices.Compact(sorted) {
		if _, err := s.store.lockUser(ctx, id); err != nil && !errors.Is(err, errNoUser) {
			return err
		}
	}
	return nil
}

// EndTenantAccessForAll is Left for several users of one tenant. They are locked together with all who
// impersonate them before anything is ended, so that the order of locks holds.
func (s *Service) EndTenantAccessForAll(ctx context.Context, ids []int64) error {
	all := slices.Clone(ids)
	for _, id := range ids {
		impersonators, err := s.deps.Impersonations.ImpersonatorsOf(ctx, id)
		if err != nil {
			return err
		}
		all = append(all, impersonators...)
	}
	if err := s.LockAll(ctx, all); err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.EndTenantAccess(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
