package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/promo"
	"github.com/tenantry/tenantry/internal/rest"
)

// applyCode redeems a promotion code for a running subscription. The code applies from the next invoice
// and replaces the current code. applyCode rejects a code that cannot be used (promotion_code_invalid).
//
// Invariant: the operation holds the redemption before the provider is called, and the redemption is
// counted in the transaction that stores the new state.
func (s *Service) applyCode(ctx context.Context, load loader, code string) (Subscription, error) {
	return s.operate(ctx, steps{
		load: load,
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			d, err := s.findDiscount(ctx, code, useOf(sub))
			if err != nil {
				return instruction{}, nothingToDo, err
			}
			if d == nil {
				return instruction{}, nothingToDo, errCodeRequired
			}
			pspCode, err := s.deps.Discounts.EnsureCode(ctx, *d)
			return instruction{Kind: opDiscount, DiscountID: d.ID, PSPCodeID: pspCode}, mustSend, err
		},
		repeats: func(earlier instruction) bool {
			return earlier.Kind == opDiscount && earlier.DiscountID != uuid.Nil && s.deps.Discounts.Has(ctx, earlier.DiscountID, code)
		},
		discountUse: func(_ context.Context, sub Subscription, _ instruction) (discount.Use, error) { return useOf(sub), nil },
		send:        s.sendDiscount,
	})
}

// useOf returns the use of a discount by a running subscription.
func useOf(sub Subscription) discount.Use {
	return discount.Use{TenantID: sub.TenantID, PlanID: sub.PlanID, PriceCents: sub.PriceCents, Quantity: sub.Quantity, Currency: sub.Currency}
}

var errCodeRequired = fault.OnField("promotion_code", "validation.required")

// dropCode removes the promotion code of a running subscription, if it has one.
func (s *Service) dropCode(ctx context.Context, load loader) error {
	_, err := s.operate(ctx, steps{
		load: load,
		check: func(_ context.Context, sub Subscription) (instruction, verdict, error) {
			if sub.liveDiscount() == nil {
				return instruction{}, nothingToDo, nil
			}
			return instruction{Kind: opDiscount, DropsDiscount: true}, mustSend, nil
		},
		repeats: func(earlier instruction) bool { return earlier.Kind == opDiscount && earlier.DropsDiscount },
		send:    s.sendDiscount,
	})
	return err
}

func (s *Service) sendDiscount(ctx context.Context, op operation) error {
	return s.deps.Codes.Set(ctx, op.before.PSPSubscriptionID, op.discountSetting(), op.key())
}

// awaitsDiscount reports whether the provider does not have the discount of a trial.
func (s Subscription) awaitsDiscount() bool {
	return s.Discount != nil && s.Discount.PSPID == "" && s.Status == Trialing
}

// enqueueDiscount enqueues JobDiscount if the provider does not have the discount. Call it in the
// transaction that stores the state.
func (s *Service) enqueueDiscount(ctx context.Context, sub Subscription) error {
	if !sub.awaitsDiscount() {
		return nil
	}
	return s.deps.Jobs.Enqueue(ctx, JobDiscount, sub.PSPSubscriptionID, jobs.Key(sub.PSPSubscriptionID))
}

// HandleDiscount handles JobDiscount.
func (s *Service) HandleDiscount(ctx context.Context, job jobs.Job) error {
	var id string
	if err := job.Decode(&id); err != nil {
		return err
	}
	return psp.MarkPermanent(s.reapplyDiscount(ctx, id))
}

// reapplyNow applies the discount of a trial that a request has just started again, so that the
// discount does not depend on the job. If this fails, the job does it.
func (s *Service) reapplyNow(ctx context.Context, sub Subscription) {
	if !sub.awaitsDiscount() {
		return
	}
	if err := s.reapplyDiscount(ctx, sub.PSPSubscriptionID); err != nil {
		s.deps.Log.WarnContext(ctx, "failed to apply discount", "tenant_id", sub.TenantID, "psp_subscription_id", sub.PSPSubscriptionID, "error", err)
	}
}

// reapplyDiscount applies the discount of a trial again. It names the discount by its coupon, because
// the code can be deactivated in the meantime.
func (s *Service) reapplyDiscount(ctx context.Context, id string) error {
	_, err := s.operate(ctx, steps{
		load: func(ctx context.Context) (Subscription, error) { return s.store.byPSPID(ctx, id) },
		check: func(_ context.Context, sub Subscription) (instruction, verdict, error) {
			if !sub.awaitsDiscount() {
				return instruction{}, nothingToDo, nil
			}
			return instruction{Kind: opReapply}, mustSend, nil
		},
		repeats: isKind(opReapply),
		send:    s.sendReapply,
	})
	return err
}

func (s *Service) sendReapply(ctx context.Context, op operation) error {
	if op.before.Discount == nil {
		return nil
	}
	coupon := discount.Discount{ID: op.before.Discount.ID}.CouponID()
	return s.deps.Codes.Set(ctx, op.before.PSPSubscriptionID, promo.Setting{CouponID: coupon}, op.key()+"-again")
}

// reapplyBefore applies a discount again before the operation ends its trial.
func (s *Service) reapplyBefore(ctx context.Context, op operation, remote psp.Subscription) error {
	if op.before.Discount == nil || op.before.Discount.PSPID != "" || remote.DiscountID != "" {
		return nil
	}
	return s.sendReapply(ctx, op)
}

type codeBody struct {
	PromotionCode string `json:"promotion_code" minLength:"1" maxLength:"255" doc:"Promotion code, in any case."`
}

type codeInput struct {
	tenantInput
	Body codeBody
}

// ApplyCode handles POST /subscription/promotion-code.
func (h *HTTP) ApplyCode(ctx context.Context, in *codeInput) (*rest.Data[*SubscriptionView], error) {
	return h.answerCode(ctx, h.svc.runningLoader(authz.TenantID(ctx)), in.Body.PromotionCode, h.svc.view)
}

// DropCode handles DELETE /subscription/promotion-code.
func (h *HTTP) DropCode(ctx context.Context, _ *tenantInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.dropCode(ctx, h.svc.runningLoader(authz.TenantID(ctx)))
}

func (h *HTTP) answerCode(ctx context.Context, load loader, code string, view viewer) (*rest.Data[*SubscriptionView], error) {
	sub, err := h.svc.applyCode(ctx, load, code)
	if err != nil {
		return nil, err
	}
	v, err := view(ctx, sub)
	return rest.OK(v), err
}

// adminLoader returns a load step for a running subscription of a tenant.
func (h *HTTP) adminLoader(tenant, subscription string) (loader, error) {
	tenantID, id, err := pathIDs(tenant, subscription)
	return requireRunning(h.svc.store.loaderByID(tenantID, id)), err
}

// AdminRunningExists is the check of routes that name a running subscription of a tenant.
func (h *HTTP) AdminRunningExists(ctx context.Context, param func(string) string) error {
	load, err := h.adminLoader(param("tenant"), param("subscription"))
	if err == nil {
		_, err = load(ctx)
	}
	return err
}

type adminSubscriptionInput struct {
	Tenant       string `path:"tenant" format:"uuid"`
	Subscription string `path:"subscription" format:"uuid"`
}

type adminCodeInput struct {
	adminSubscriptionInput
	Body codeBody
}

// AdminApplyCode handles POST /admin/tenants/{tenant}/subscriptions/{subscription}/promotion-code.
func (h *HTTP) AdminApplyCode(ctx context.Context, in *adminCodeInput) (*rest.Data[*SubscriptionView], error) {
	load, err := h.adminLoader(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	return h.answerCode(ctx, load, in.Body.PromotionCode, h.svc.platformView)
}

// AdminDropCode handles DELETE /admin/tenants/{tenant}/subscriptions/{subscription}/promotion-code.
func (h *HTTP) AdminDropCode(ctx context.Context, in *adminSubscriptionInput) (*rest.NoBody, error) {
	load, err := h.adminLoader(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.dropCode(ctx, load)
}
