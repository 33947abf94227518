// Package calls lists the calls to Stripe's API that this service makes. A package that mentions
// stripe.Client compiles the list types of all resources of the library again, about 1,200
// functions. API mentions only the types in use, which makes the build of psp and of all packages
// that import it much faster.
package calls

import (
	"context"

	"github.com/stripe/stripe-go/v85"
)

// API is the part of stripe.Client that this service uses, under the library's names.
type API struct {
	V1Accounts interface {
		Retrieve(ctx context.Context, params *stripe.AccountRetrieveParams) (*stripe.Account, error)
	}
	V1BillingMeterEvents interface {
		Create(ctx context.Context, params *stripe.BillingMeterEventCreateParams) (*stripe.BillingMeterEvent, error)
	}
	V1BillingMeters interface {
		Create(ctx context.Context, params *stripe.BillingMeterCreateParams) (*stripe.BillingMeter, error)
		List(ctx context.Context, listParams *stripe.BillingMeterListParams) *stripe.V1List[*stripe.BillingMeter]
		Retrieve(ctx context.Context, id string, params *stripe.BillingMeterRetrieveParams) (*stripe.BillingMeter, error)
	}
	V1BillingPortalConfigurations interface {
		List(ctx context.Context, listParams *stripe.BillingPortalConfigurationListParams) *stripe.V1List[*stripe.BillingPortalConfiguration]
	}
	V1BillingPortalSessions interface {
		Create(ctx context.Context, params *stripe.BillingPortalSessionCreateParams) (*stripe.BillingPortalSession, error)
	}
	V1Charges interface {
		List(ctx context.Context, listParams *stripe.ChargeListParams) *stripe.V1List[*stripe.Charge]
		Retrieve(ctx context.Context, id string, params *stripe.ChargeRetrieveParams) (*stripe.Charge, error)
	}
	V1CheckoutSessions interface {
		Create(ctx context.Context, params *stripe.CheckoutSessionCreateParams) (*stripe.CheckoutSession, error)
		List(ctx context.Context, listParams *stripe.CheckoutSessionListParams) *stripe.V1List[*stripe.CheckoutSession]
		Retrieve(ctx context.Context, id string, params *stripe.CheckoutSessionRetrieveParams) (*stripe.CheckoutSession, error)
	}
	V1Coupons interface {
		Create(ctx context.Context, params *stripe.CouponCreateParams) (*stripe.Coupon, error)
		Retrieve(ctx context.Context, id string, params *stripe.CouponRetrieveParams) (*stripe.Coupon, error)
	}
	V1CreditNotes interface {
		Create(ctx context.Context, params *stripe.CreditNoteCreateParams) (*stripe.CreditNote, error)
		List(ctx context.Context, listParams *stripe.CreditNoteListParams) *stripe.V1List[*stripe.CreditNote]
		Retrieve(ctx context.Context, id string, params *stripe.CreditNoteRetrieveParams) (*stripe.CreditNote, error)
	}
	V1CustomerBalanceTransactions interface {
		Create(ctx context.Context, params *stripe.CustomerBalanceTransactionCreateParams) (*stripe.CustomerBalanceTransaction, error)
		List(ctx context.Context, listParams *stripe.CustomerBalanceTransactionListParams) *stripe.V1List[*stripe.CustomerBalanceTransaction]
	}
	V1Customers interface {
		Create(ctx context.Context, params *stripe.CustomerCreateParams) (*stripe.Customer, error)
		List(ctx context.Context, listParams *stripe.CustomerListParams) *stripe.V1List[*stripe.Customer]
		Retrieve(ctx context.Context, id string, params *stripe.CustomerRetrieveParams) (*stripe.Customer, error)
		Update(ctx context.Context, id string, params *stripe.CustomerUpdateParams) (*stripe.Customer, error)
	}
	V1Disputes interface {
		List(ctx context.Context, listParams *stripe.DisputeListParams) *stripe.V1List[*stripe.Dispute]
	}
	V1Events interface {
		List(ctx context.Context, listParams *stripe.EventListParams) *stripe.V1List[*stripe.Event]
	}
	V1InvoiceItems interface {
		Create(ctx context.Context, params *stripe.InvoiceItemCreateParams) (*stripe.InvoiceItem, error)
		List(ctx context.Context, listParams *stripe.InvoiceItemListParams) *stripe.V1List[*stripe.InvoiceItem]
		Retrieve(ctx context.Context, id string, params *stripe.InvoiceItemRetrieveParams) (*stripe.InvoiceItem, error)
	}
	V1InvoicePayments interface {
		List(ctx context.Context, listParams *stripe.InvoicePaymentListParams) *stripe.V1List[*stripe.InvoicePayment]
	}
	V1Invoices interface {
		CreatePreview(ctx context.Context, params *stripe.InvoiceCreatePreviewParams) (*stripe.Invoice, error)
		Delete(ctx context.Context, id string, params *stripe.InvoiceDeleteParams) (*stripe.Invoice, error)
		FinalizeInvoice(ctx context.Context, id string, params *stripe.InvoiceFinalizeInvoiceParams) (*stripe.Invoice, error)
		List(ctx context.Context, listParams *stripe.InvoiceListParams) *stripe.V1List[*stripe.Invoice]
		ListLines(ctx context.Context, listParams *stripe.InvoiceListLinesParams) *stripe.V1List[*stripe.InvoiceLineItem]
		Pay(ctx context.Context, id string, params *stripe.InvoicePayParams) (*stripe.Invoice, error)
		Retrieve(ctx context.Context, id string, params *stripe.InvoiceRetrieveParams) (*stripe.Invoice, error)
		VoidInvoice(ctx context.Context, id string, params *stripe.InvoiceVoidInvoiceParams) (*stripe.Invoice, error)
	}
	V1PaymentIntents interface {
		Retrieve(ctx context.Context, id string, params *stripe.PaymentIntentRetrieveParams) (*stripe.PaymentIntent, error)
	}
	V1PaymentMethods interface {
		List(ctx context.Context, listParams *stripe.PaymentMethodListParams) *stripe.V1List[*stripe.PaymentMethod]
	}
	V1Prices interface {
		Create(ctx context.Context, params *stripe.PriceCreateParams) (*stripe.Price, error)
		List(ctx context.Context, listParams *stripe.PriceListParams) *stripe.V1List[*stripe.Price]
		Retrieve(ctx context.Context, id string, params *stripe.PriceRetrieveParams) (*stripe.Price, error)
	}
	V1Products interface {
		Create(ctx context.Context, params *stripe.ProductCreateParams) (*stripe.Product, error)
		List(ctx context.Context, listParams *stripe.ProductListParams) *stripe.V1List[*stripe.Product]
		Retrieve(ctx context.Context, id string, params *stripe.ProductRetrieveParams) (*stripe.Product, error)
	}
	V1PromotionCodes interface {
		Create(ctx context.Context, params *stripe.PromotionCodeCreateParams) (*stripe.PromotionCode, error)
		List(ctx context.Context, listParams *stripe.PromotionCodeListParams) *stripe.V1List[*stripe.PromotionCode]
		Retrieve(ctx context.Context, id string, params *stripe.PromotionCodeRetrieveParams) (*stripe.PromotionCode, error)
		Update(ctx context.Context, id string, params *stripe.PromotionCodeUpdateParams) (*stripe.PromotionCode, error)
	}
	V1Refunds interface {
		Create(ctx context.Context, params *stripe.RefundCreateParams) (*stripe.Refund, error)
		List(ctx context.Context, listParams *stripe.RefundListParams) *stripe.V1List[*stripe.Refund]
		Retrieve(ctx context.Context, id string, params *stripe.RefundRetrieveParams) (*stripe.Refund, error)
	}
	V1SubscriptionItems interface {
		List(ctx context.Context, listParams *stripe.SubscriptionItemListParams) *stripe.V1List[*stripe.SubscriptionItem]
	}
	V1SubscriptionSchedules interface {
		Create(ctx context.Context, params *stripe.SubscriptionScheduleCreateParams) (*stripe.SubscriptionSchedule, error)
		Release(ctx context.Context, id string, params *stripe.SubscriptionScheduleReleaseParams) (*stripe.SubscriptionSchedule, error)
		Update(ctx context.Context, id string, params *stripe.SubscriptionScheduleUpdateParams) (*stripe.SubscriptionSchedule, error)
	}
	V1Subscriptions interface {
		Cancel(ctx context.Context, id string, params *stripe.SubscriptionCancelParams) (*stripe.Subscription, error)
		Create(ctx context.Context, params *stripe.SubscriptionCreateParams) (*stripe.Subscription, error)
		List(ctx context.Context, listParams *stripe.SubscriptionListParams) *stripe.V1List[*stripe.Subscription]
		Retrieve(ctx context.Context, id string, params *stripe.SubscriptionRetrieveParams) (*stripe.Subscription, error)
		Update(ctx context.Context, id string, params *stripe.SubscriptionUpdateParams) (*stripe.Subscription, error)
	}
	V1TaxIDs interface {
		Create(ctx context.Context, params *stripe.TaxIDCreateParams) (*stripe.TaxID, error)
		Delete(ctx context.Context, id string, params *stripe.TaxIDDeleteParams) (*stripe.TaxID, error)
		List(ctx context.Context, listParams *stripe.TaxIDListParams) *stripe.V1List[*stripe.TaxID]
		Retrieve(ctx context.Context, id string, params *stripe.TaxIDRetrieveParams) (*stripe.TaxID, error)
	}
	V1WebhookEndpoints interface {
		List(ctx context.Context, listParams *stripe.WebhookEndpointListParams) *stripe.V1List[*stripe.WebhookEndpoint]
	}
	V2CoreEvents interface {
		Retrieve(ctx context.Context, id string, params *stripe.V2CoreEventRetrieveParams) (stripe.V2CoreEvent, error)
	}
}

// New returns the API for a secret key.
func New(key string, backends *stripe.Backends) *API {
	c := stripe.NewClient(key, stripe.WithBackends(backends))
	return &API{
		V1Accounts:                    c.V1Accounts,
		V1BillingMeterEvents:          c.V1BillingMeterEvents,
		V1BillingMeters:               c.V1BillingMeters,
		V1BillingPortalConfigurations: c.V1BillingPortalConfigurations,
		V1BillingPortalSessions:       c.V1BillingPortalSessions,
		V1Charges:                     c.V1Charges,
		V1CheckoutSessions:            c.V1CheckoutSessions,
		V1Coupons:                     c.V1Coupons,
		V1CreditNotes:                 c.V1CreditNotes,
		V1CustomerBalanceTransactions: c.V1CustomerBalanceTransactions,
		V1Customers:                   c.V1Customers,
		V1Disputes:                    c.V1Disputes,
		V1Events:                      c.V1Events,
		V1InvoiceItems:                c.V1InvoiceItems,
		V1InvoicePayments:             c.V1InvoicePayments,
		V1Invoices:                    c.V1Invoices,
		V1PaymentIntents:              c.V1PaymentIntents,
		V1PaymentMethods:              c.V1PaymentMethods,
		V1Prices:                      c.V1Prices,
		V1Products:                    c.V1Products,
		V1PromotionCodes:              c.V1PromotionCodes,
		V1Refunds:                     c.V1Refunds,
		V1SubscriptionItems:           c.V1SubscriptionItems,
		V1SubscriptionSchedules:       c.V1SubscriptionSchedules,
		V1Subscriptions:               c.V1Subscriptions,
		V1TaxIDs:                      c.V1TaxIDs,
		V1WebhookEndpoints:            c.V1WebhookEndpoints,
		V2CoreEvents:                  c.V2CoreEvents,
	}
}
