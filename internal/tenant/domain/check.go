package domain

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
)

// lookupTimeout limits the lookup of a record.
const lookupTimeout = 10 * time.Second

// isPublished reports whether the record of a domain exists. It returns an error if the name
// servers do not answer, because the record may still exist.
func (s *Service) isPublished(ctx context.Context, d Domain) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	values, err := s.deps.Resolver.LookupTXT(ctx, recordName(d.Name))
	if failed, ok := errors.AsType[*net.DNSError](err); ok && failed.IsNotFound {
		return false, nil
	}
	return slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == recordValue(d.token) }), err
}

// Verify looks up the record of a domain, and marks the domain as verified if it exists. Otherwise
// it returns domain_not_verified with the record. It returns DOMAIN_TAKEN if another tenant has
// verified the domain. A failed lookup does not count as a failed daily check.
//
// Invariant: at most one tenant has verified a domain. A unique index decides between two tenants
// that verify it at the same time.
func (s *Service) Verify(ctx context.Context, tenantID, id uuid.UUID) (d Domain, err error) {
	if d, err = s.store.get(ctx, tenantID, id); err != nil {
		return Domain{}, err
	}
	if err := s.requireFree(ctx, d); err != nil {
		return Domain{}, err
	}
	published, lookupErr := s.isPublished(ctx, d)
	if lookupErr != nil {
		s.deps.Log.InfoContext(ctx, "failed to look up the record of a domain", "domain", d.Name, "error", lookupErr)
	}
	err = s.change(ctx, tenantID, id, func(ctx context.Context, current Domain) error {
		now := s.deps.Clock.Now()
		d = current
		d.LastCheckedAt = &now
		if published {
			return s.markVerified(ctx, &d, now)
		}
		return s.store.update(ctx, d, now)
	})
	if err == nil && !published {
		err = withRecord(d)
	}
	return d, err
}

func (s *Service) markVerified(ctx context.Context, d *Domain, now time.Time) error {
	isNew := d.Status != statusVerified
	d.Status, d.FailedChecks = statusVerified, 0
	if isNew {
		d.VerifiedAt = &now
		if err := s.store.release(ctx, d.Name, now); err != nil {
			return err
		}
	}
	if err := s.store.update(ctx, *d, now); err != nil || !isNew {
		return err
	}
	return s.record(ctx, "domain.verified", *d, nil, map[string]any{"domain": d.Name})
}

const (
	// checkInterval is the time between two checks of a domain. The job runs once an hour, so a full
	// day would move the time of the check every day.
	checkInterval = 23 * time.Hour
	// checkBatch is the maximum number of domains per query.
	checkBatch = 500
)

// Check looks up the records of the verified domains that are due. A domain is lost after
// maxFailedChecks failed checks in a row. If the name servers do not answer, the check is repeated
// with the next run.
func (s *Service) Check(ctx context.Context) error {
	for {
		due, err := s.store.dueForCheck(ctx, s.deps.Clock.Now().Add(-checkInterval), checkBatch)
		if err != nil {
			return err
		}
		checked := 0
		for _, d := range due {
			ok, err := s.check(ctx, d)
			if err != nil {
				return err
			}
			if ok {
				checked++
			}
		}
		if checked == 0 { // nothing is due, or no name server answers
			return nil
		}
	}
}

// check reports whether the name servers of a domain have answered.
func (s *Service) check(ctx context.Context, d Domain) (bool, error) {
	published, err := s.isPublished(ctx, d)
	if err != nil {
		s.deps.Log.InfoContext(ctx, "failed to look up the record of a domain", "domain", d.Name, "error", err)
		// Check it after all others in the next run.
		err := s.change(context.WithoutCancel(ctx), d.TenantID, d.ID, func(ctx context.Context, current Domain) error {
			now := s.deps.Clock.Now()
			at := now.Add(-checkInterval)
			current.LastCheckedAt = &at
			return s.store.update(ctx, current, now)
		})
		if errors.Is(err, errNotFound) || isTenantGone(err) {
			err = nil
		}
		return false, errors.Join(ctx.Err(), err)
	}
	err = s.change(ctx, d.TenantID, d.ID, func(ctx context.Context, current Domain) error {
		return s.finishCheck(ctx, current, published)
	})
	if errors.Is(err, errNotFound) || isTenantGone(err) { // deleted meanwhile
		return false, nil
	}
	return err == nil, err
}

func (s *Service) finishCheck(ctx context.Context, d Domain, published bool) error {
	now := s.deps.Clock.Now()
	if d.Status != statusVerified {
		return nil
	}
	d.LastCheckedAt = &now
	if published {
		d.FailedChecks = 0
		return s.store.update(ctx, d, now)
	}
	if d.FailedChecks++; d.FailedChecks < maxFailedChecks {
		return s.store.update(ctx, d, now)
	}
	d.Status = statusLost
	if err := s.store.update(ctx, d, now); err != nil {
		return err
	}
	if err := s.record(ctx, "domain.lost", d, map[string]any{"domain": d.Name}, nil); err != nil {
		return err
	}
	return s.mailLost(ctx, d)
}

// mailLost notifies the owner of a lost domain.
func (s *Service) mailLost(ctx context.Context, d Domain) error {
	owner, err := s.deps.Tenants.Owner(ctx, d.TenantID)
	if err != nil || owner == nil {
		return err
	}
	t, err := s.deps.Tenants.Get(ctx, d.TenantID)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return err
	}
	return s.deps.Letters.DomainLost(ctx, locale, owner.Email, letters.DomainLost{
		Tenant: t.Name, Domain: d.Name, Record: recordName(d.Name), Value: recordValue(d.token),
	})
}
