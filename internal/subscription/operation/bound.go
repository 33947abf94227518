package operation

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/subscription"
)

// show returns what a change costs from now on, and stores it as what was shown last.
func (s *Service) show(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, asked int64) (Preview, error) {
	now := s.deps.Clock.Now()
	from := prorationDate(sub, now)
	change, p, err := s.price(ctx, sub, sel, from, true)
	if err == nil {
		p.Outlook, err = s.outlook(ctx, sub, sel, change.Change, from)
	}
	if err != nil {
		return Preview{}, err
	}
	return p, s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		return s.store.keepPreview(ctx, sub.TenantID, sel, asked, p, now)
	})
}

// bound returns a change as it is to be made; asked is the number of seats that the
// caller asked for, 0 for as many as are needed.
//
// Invariant: a change costs to the cent what its last preview within previewLife showed,
// whoever of the tenant saw it, or it does not happen: preview_outdated, with the new
// figures, which bind in turn. For that it is counted from the moment of the preview,
// and the provider says once more what it comes to, for the subscription as it is now.
// Nothing of ours changes the subscription after that: the operation begins only if no
// other state was stored since the subscription was loaded, and no other operation
// begins before this one has ended. A change by hand at the provider in the moment
// between the two calls is the one that this does not see. Usage is compared later, when
// no more of it can be recorded: see needUsage.
func (s *Service) bound(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, asked int64) (pricedChange, error) {
	now := s.deps.Clock.Now()
	shown, err := s.store.lastPreview(ctx, sub.TenantID, sel, asked, now)
	if errors.Is(err, errNoPreview) {
		return s.unbound(ctx, sub, sel)
	}
	if err != nil {
		return pricedChange{}, err
	}
	change, holds, err := s.price(ctx, sub, sel, prorationDate(sub, shown.At), false)
	if err != nil {
		return change, err
	}
	if holds.sameFigures(shown) {
		if change.invoicesUsage(sub, sel) {
			change.shownUsage = &shown.Usage
		}
		return change, nil
	}
	next, err := s.show(ctx, sub, sel, asked)
	if err != nil {
		return pricedChange{}, err
	}
	return pricedChange{}, errOutdated.With("preview", newChangePreview(next))
}

// unbound is bound without a preview: the change costs what holds.
func (s *Service) unbound(ctx context.Context, sub subscription.Subscription, sel subscription.Selection) (pricedChange, error) {
	if checkout, err := paidFromFree(sub, sel); err != nil || checkout {
		return pricedChange{}, err
	}
	change, err := s.providerChange(ctx, sub, sel, prorationDate(sub, s.deps.Clock.Now()))
	if err != nil {
		return pricedChange{}, err
	}
	if sub.Status == subscription.PastDue || !change.paid.whole() {
		change, _, err = s.figures(ctx, sub, sel, change)
	}
	return change, err
}

// sameFigures reports whether two previews come to the same amounts, without usage.
func (p Preview) sameFigures(other Preview) bool {
	return p.Credit == other.Credit && p.Charge == other.Charge && p.Pending == other.Pending
}
