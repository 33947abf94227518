package subscription

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// contractRequest is the platform's request to make a subscription for a tenant.
type contractRequest struct {
	CheckoutParams

	Terms     Terms
	TrialDays int
}

// digest identifies the request, so that a retry is recognized.
func (p contractRequest) digest() string {
	price := int64(-1)
	if p.CustomPrice != nil {
		price = *p.CustomPrice
	}
	code := strings.ToUpper(strings.TrimSpace(p.PromotionCode))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d %d %#v %q", p.PlanID, p.Currency, p.Quantity, price, p.TrialDays, p.Terms, code))
	return hex.EncodeToString(sum[:])
}

// contract is the stored request of the platform to create a subscription.
type contract struct {
	Digest    string       `json:"digest"`
	RequestID string       `json:"request_id,omitempty"` // set if the request has an idempotency key
	By        authz.Origin `json:"by"`
	// IsMailed means that the owner was mailed the link to pay a subscription that is not stored yet.
	IsMailed bool `json:"is_mailed,omitzero"`
}

// isRetryOf reports whether a request is a retry of the request that made the earlier contract.
func (c contract) isRetryOf(earlier contract) bool {
	return c.Digest == earlier.Digest && c.RequestID == earlier.RequestID
}

// createContract creates a subscription without a checkout (rules: subscription#contracts). It makes
// the checks of a checkout. If a payment is due but no payment method is saved, or if the payment is
// declined, the subscription is incomplete, and the owner gets the link to pay.
//
// Invariant: a tenant has at most one pending request. The request is committed under the tenant's
// lock before the provider is called. Its ID is the idempotency key and is part of the metadata.
// The response, a notification or a reconciliation, whichever comes first, stores the subscription,
// the audit entry and the mail in one transaction. A retry after an unknown outcome continues the
// request; any other request first looks up the outcome.
func (s *Service) createContract(ctx context.Context, tenantID uuid.UUID, p contractRequest) (Subscription, error) {
	bought, err := s.checkPurchase(ctx, tenantID, p.CheckoutParams)
	asked := contract{Digest: p.digest(), RequestID: idempotency.RequestID(ctx), By: authz.OriginOf(ctx)}
	if errors.Is(err, errAlreadyExists) {
		return s.loadRepeated(ctx, tenantID, asked, err)
	}
	if err != nil {
		return Subscription{}, err
	}
	sub, _, err := s.makeContract(ctx, bought, p, asked)
	if errors.Is(err, errAlreadyExists) {
		return s.loadRepeated(ctx, tenantID, asked, err)
	}
	return sub, err
}

// makeContract creates the subscription of a checked purchase. It returns the stored subscription
// and the provider's state. The stored subscription is zero if it replaces another one and is not
// paid yet.
func (s *Service) makeContract(ctx context.Context, bought purchase, p contractRequest, asked contract) (Subscription, psp.Subscription, error) {
	k, err := s.contractParams(ctx, bought, p)
	if err != nil {
		return Subscription{}, psp.Subscription{}, err
	}
	c, err := s.claimContract(ctx, bought, k.CustomerID, asked)
	if err != nil {
		return Subscription{}, psp.Subscription{}, err
	}
	k.Key = c.id.String()
	k.Metadata = bought.metadata(c.id)
	addTerms(k.Metadata, p)
	remote, err := s.deps.Contracts.Create(ctx, k)
	if err != nil {
		err = errors.Join(err, s.releaseContract(context.WithoutCancel(ctx), c, isRefusal(err)))
		return Subscription{}, remote, s.deps.Prices.ExplainRefusal(ctx, bought.plan, bought.price, bought.quantity, err)
	}
	sub, err := s.settleContract(ctx, c, remote)
	return sub, remote, err
}

// replaceFree starts a paid subscription that replaces a free one, as createContract does: it charges
// the saved payment method. Without one, or if the payment is declined, the owner gets the link to pay,
// and the free subscription stays until then.
func (s *Service) replaceFree(ctx context.Context, bought purchase) (changeResult, error) {
	p := contractRequest{
		CheckoutParams: CheckoutParams{PlanID: bought.plan.ID, Currency: bought.price.Currency, Quantity: bought.quantity},
		Terms:          Terms{Collection: collectCard},
	}
	if bought.discount != nil {
		p.PromotionCode = bought.discount.Code
	}
	sub, remote, err := s.makeContract(ctx, bought, p, contract{Digest: p.digest() + bought.replaces.String(), By: authz.OriginOf(ctx)})
	if err != nil || sub.ID != uuid.Nil {
		return changeResult{sub: sub}, err
	}
	if remote, err = s.deps.Provider.GetSubscription(ctx, remote.ID); err != nil { // the response lacks the link
		return changeResult{}, err
	}
	sub, err = s.store.byID(ctx, bought.tenant.ID, bought.replaces)
	return changeResult{sub: sub, isPending: true, action: remote.Action.OrNil()}, err
}

// settleContract sends the first invoice, stores the provider's subscription and returns it.
func (s *Service) settleContract(ctx context.Context, c checkout, remote psp.Subscription) (Subscription, error) {
	if remote.IsSent { // a failure does not matter, see sendInvoices
		if err := s.deps.Provider.SendInvoices(ctx, remote.ID, false); err != nil {
			s.deps.Log.WarnContext(ctx, "failed to finalize invoice", "tenant_id", c.tenantID, "psp_subscription_id", remote.ID, "error", err)
		}
	}
	if err := s.ReadBack(ctx, remote.ID, nil); err != nil {
		return Subscription{}, errors.Join(err, s.releaseContract(context.WithoutCancel(ctx), c, false))
	}
	sub, err := s.store.byPSPID(ctx, remote.ID)
	if errors.Is(err, ErrNotFound) && Status(remote.Status) == Incomplete && c.replaces != uuid.Nil {
		return Subscription{}, s.releaseContract(ctx, c, false)
	}
	if errors.Is(err, ErrNotFound) || err == nil && sub.Status.IsOver() {
		return Subscription{}, errAlreadyExists // refused: another subscription began first
	}
	if err == nil {
		s.reapplyNow(ctx, sub)
	}
	return sub, err
}

// addTerms adds the terms of a contract that are stored only in the metadata of the provider's
// subscription.
func addTerms(metadata map[string]string, p contractRequest) {
	if p.Terms.PurchaseOrder != "" {
		metadata[subscriptions.MetaPurchaseOrder] = p.Terms.PurchaseOrder
	}
	if p.CustomPrice != nil {
		metadata[subscriptions.MetaCustomPrice] = isCustom
	}
}

// isCustom is the value of subscriptions.MetaCustomPrice.
const isCustom = "true"

// contractParams returns the parameters of a contract, except the key and the metadata. It creates
// the customer, the product and the price at the provider if they are missing.
func (s *Service) contractParams(ctx context.Context, bought purchase, p contractRequest) (subscriptions.ContractParams, error) {
	k := subscriptions.ContractParams{IsSent: p.Terms.IsSent(), DaysUntilDue: p.Terms.DaysUntilDue, CheckoutParams: psp.CheckoutParams{
		Quantity: bought.quantity, TrialDays: p.TrialDays, InvoicesMonthly: bought.plan.Interval.LongerThanMonth(),
		TrialWithoutCard: p.TrialDays > 0 && !p.Terms.IsSent(),
	}}
	var err error
	if k.CustomerID, err = s.deps.Customers.Ensure(ctx, bought.tenant); err != nil {
		return k, err
	}
	if err := s.requireCurrency(ctx, k.CustomerID, bought.price.Currency); err != nil {
		return k, err
	}
	if p.CustomPrice != nil {
		k.Price, err = s.customPrice(ctx, bought.selection)
	} else {
		k.PriceID, err = s.deps.Prices.Ensure(ctx, bought.plan.ID, bought.price.ID)
	}
	if err != nil {
		return k, err
	}
	if k.MeteredPriceIDs, err = s.meteredPrices(ctx, bought); err != nil {
		return k, err
	}
	if bought.discount != nil {
		if k.PromotionCodeID, err = s.deps.Discounts.EnsureCode(ctx, *bought.discount); err != nil {
			return k, err
		}
	}
	if k.IsSent {
		return k, s.prepareSending(ctx, bought.tenant.ID)
	}
	k.PaymentMethodID, err = s.deps.Contracts.SavedPaymentMethod(ctx, k.CustomerID)
	return k, err
}

// customPrice returns the price of a selection as a price for a single subscription.
func (s *Service) customPrice(ctx context.Context, of selection) (*subscriptions.CustomPrice, error) {
	product, err := s.deps.Prices.EnsureProduct(ctx, of.plan)
	return &subscriptions.CustomPrice{
		ProductID: product, Amount: of.price.PriceCents, Currency: of.price.Currency,
		IntervalUnit: of.plan.Interval.Unit, IntervalCount: int64(of.plan.Interval.Count),
	}, err
}

// claimContract stores the request, leased to the caller, and returns it. If an earlier attempt of
// the same request has an unknown outcome, it returns the earlier attempt.
func (s *Service) claimContract(ctx context.Context, bought purchase, customerID string, asked contract) (checkout, error) {
	for began := s.deps.Lease.Now(); ; {
		c, isFree, err := s.beginContract(ctx, bought, asked)
		switch {
		case err != nil:
			return c, err
		case isFree && c.contract.isRetryOf(asked):
			return c, nil
		case isFree:
			if err := s.lookUpContract(ctx, c, customerID); err != nil {
				return c, err
			}
		case s.deps.Lease.Now().Sub(began) >= busyWait || !clock.Pause(ctx, busyPause):
			return c, errBusy
		}
	}
}

// beginContract stores a request, or leases the tenant's pending request if its lease has expired.
// isFree is false if another caller works on the pending request.
func (s *Service) beginContract(ctx context.Context, bought purchase, asked contract) (c checkout, isFree bool, _ error) {
	now, leasedAt := s.deps.Clock.Now(), s.deps.Lease.Now()
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.LockLive(ctx, bought.tenant.ID); err != nil {
			return err
		}
		if err := s.requireOnly(ctx, bought.tenant.ID, bought.replaces); err != nil {
			return err
		}
		var err error
		if c, isFree, err = s.leaseOpenContract(ctx, bought.tenant.ID, leasedAt); !errors.Is(err, errNoCheckout) {
			return err
		}
		c, isFree = checkout{
			id: sqldb.NewID(), tenantID: bought.tenant.ID, planID: bought.plan.ID, replaces: bought.replaces, createdAt: now, contract: &asked,
		}, true
		if err := s.store.insertContract(ctx, c, bought, leasedAt.Add(operationLease), now); err != nil || bought.discount == nil {
			return err
		}
		until := now.Add(contractHold)
		return s.deps.Discounts.Hold(ctx, c.id, bought.discount.ID, bought.use(), &until)
	})
	return c, isFree, err
}

// leaseOpenContract leases the tenant's pending request if its lease has expired by now. It takes part in
// a transaction that holds the tenant's lock. isFree is false if another caller works on the request.
func (s *Service) leaseOpenContract(ctx context.Context, tenantID uuid.UUID, now time.Time) (c checkout, isFree bool, err error) {
	c, err = s.store.openContract(ctx, tenantID)
	if isFree = err == nil && !c.leasedUntil.After(now); isFree {
		err = s.store.leaseContract(ctx, c, now.Add(operationLease))
	}
	return c, isFree, err
}

// contractHold is how long a contract holds the redemption of its discount. By then, the
// subscription has been paid or has expired (after 23 hours), and the hold is settled even if the
// notification was lost.
const contractHold = 24 * time.Hour

// requireOnly rejects a tenant that has a subscription other than the given one. Ended
// subscriptions do not count. The given ID can be Nil.
func (s *Service) requireOnly(ctx context.Context, tenantID, id uuid.UUID) error {
	sub, err := s.store.loadCurrent(ctx, tenantID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil && sub.ID != id {
		err = errAlreadyExists
	}
	return err
}

// lookUpContract settles a request with an unknown outcome that is leased to the caller. It stores
// the subscription if the provider has it, and otherwise drops the request. It refuses a
// subscription that is to replace another one and still waits for its first payment.
func (s *Service) lookUpContract(ctx context.Context, c checkout, customerID string) error {
	remote, err := s.deps.Provider.FindSubscription(ctx, customerID, map[string]string{metaCheckout: c.id.String()})
	switch {
	case errors.Is(err, psp.ErrNotDone):
		return s.releaseContract(ctx, c, true)
	case err == nil:
		err = s.ReadBack(ctx, remote.ID, nil)
	}
	if err == nil && Status(remote.Status).IsOver() { // an ended subscription that was not stored
		return s.releaseContract(ctx, c, true)
	}
	if err == nil && c.replaces != uuid.Nil && Status(remote.Status) == Incomplete {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if _, err := s.deps.Tenants.Lock(ctx, c.tenantID); err != nil {
				return err
			}
			if _, err := s.store.byPSPID(ctx, remote.ID); !errors.Is(err, ErrNotFound) {
				return err // paid in the meantime, so it has replaced the other one
			}
			return s.refuse(ctx, c, remote.ID, remote.LatestInvoiceID)
		})
	}
	return errors.Join(err, s.releaseContract(context.WithoutCancel(ctx), c, false))
}

// releaseContract gives up the lease of a request, and drops the request if it had no effect.
func (s *Service) releaseContract(ctx context.Context, c checkout, isDropped bool) error {
	if isDropped {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.store.dropContract(ctx, c, s.deps.Clock.Now()); err != nil {
				return err
			}
			return s.deps.Discounts.Release(ctx, c.tenantID, c.id)
		})
	}
	return s.store.leaseContract(ctx, c, s.deps.Lease.Now())
}

// loadRepeated returns the subscription that an earlier attempt of the same request has created,
// otherwise the error refusal. It recognizes only requests with an idempotency key.
func (s *Service) loadRepeated(ctx context.Context, tenantID uuid.UUID, asked contract, refusal error) (Subscription, error) {
	if asked.RequestID == "" {
		return Subscription{}, refusal
	}
	made, err := s.store.lastContracts(ctx, tenantID, s.deps.Clock.Now().Add(-24*time.Hour))
	if err != nil {
		return Subscription{}, err
	}
	for _, c := range made {
		if asked.isRetryOf(*c.contract) {
			return s.store.byPSPID(ctx, c.session)
		}
	}
	return Subscription{}, refusal
}

// completeContract completes the request of a subscription that is being stored: it adds the audit
// entry, and mails the link to pay to the owner if the first payment is missing.
func (s *Service) completeContract(ctx context.Context, a adoption, next Subscription) error {
	if a.opened.contract == nil {
		return nil
	}
	if err := s.store.completeContract(ctx, a.opened, next.PSPSubscriptionID, s.deps.Clock.Now()); err != nil {
		return err
	}
	state := next.Terms.auditState()
	state["plan_id"], state["currency"], state["price_cents"], state["quantity"] = next.PlanID, next.Currency, next.PriceCents, next.Quantity
	state["custom_price"], state["status"], state["trial_ends_at"] = next.CustomPrice, next.Status, next.TrialEndsAt
	err := s.deps.Audit.Record(a.opened.contract.By.NewContext(ctx), audit.Entry{
		Action: "subscription.created", TenantID: &next.TenantID, Resource: "subscription", ResourceID: next.ID.String(), After: state,
	})
	if err != nil || next.Status != Incomplete || next.Action.URL == "" || a.opened.contract.IsMailed {
		return err
	}
	return s.mailFirstPayment(ctx, a.opened, next)
}

// mailReplacement mails the owner, once, the link to pay a subscription that replaces another one.
func (s *Service) mailReplacement(ctx context.Context, a adoption, next Subscription) error {
	k := a.opened.contract
	if k == nil || k.IsMailed || next.Status != Incomplete || next.Action.URL == "" {
		return nil
	}
	k.IsMailed = true
	if err := s.store.updateContract(ctx, a.opened); err != nil {
		return err
	}
	return s.mailFirstPayment(ctx, a.opened, next)
}

// redeemContract counts or releases the redemption that a contract holds. The hold remains while the
// subscription waits for its first payment.
func (s *Service) redeemContract(ctx context.Context, c checkout, next Subscription) error {
	switch {
	case next.Status == Incomplete:
		return nil
	case next.Status.IsOver(): // without a payment
		return s.deps.Discounts.Release(ctx, c.tenantID, c.id)
	}
	return s.redeem(c.contract.By.NewContext(ctx), c.id, next, nil)
}

// previewContract returns the cost of a subscription that the platform makes. It rejects the same
// requests as createContract, and creates nothing.
func (s *Service) previewContract(ctx context.Context, tenantID uuid.UUID, p contractRequest) (purchasePreview, error) {
	bought, err := s.checkPreview(ctx, tenantID, p.CheckoutParams)
	if err == nil && p.Terms.IsSent() {
		err = s.requireBillingEmail(ctx, bought.tenant)
	}
	if err != nil {
		return purchasePreview{}, err
	}
	return s.costOf(ctx, bought, p.TrialDays)
}
