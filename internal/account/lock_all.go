package account

import (
	"context"
	"errors"
	"slices"
)

// LockAll locks users in the order of their IDs until the transaction of ctx ends. It skips deleted
// users.
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

// LockTenantAccess locks users together with all users who impersonate them, before
// EndTenantAccessForAll.
func (s *Service) LockTenantAccess(ctx context.Context, ids []int64) error {
	all := slices.Clone(ids)
	for _, id := range ids {
		impersonators, err := s.deps.Impersonations.ImpersonatorsOf(ctx, id)
		if err != nil {
			return err
		}
		all = append(all, impersonators...)
	}
	return s.LockAll(ctx, all)
}

// EndTenantAccessForAll calls EndTenantAccess for several users of one tenant. To keep the lock
// order, it first locks them together with all users who impersonate them.
func (s *Service) EndTenantAccessForAll(ctx context.Context, ids []int64) error {
	if err := s.LockTenantAccess(ctx, ids); err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.EndTenantAccess(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
