import type { RegisteredRouter } from '@tanstack/react-router'

type Routes = RegisteredRouter['routesById']

/** The paths of the frames of pages, which are not pages. */
type Frame = '/platform' | '/platform/tenants/$tenantId'

/** The paths of all pages. */
type Page = Exclude<{ [Id in keyof Routes]: Routes[Id]['fullPath'] }[keyof Routes], Frame>

/**
 * The heading of the guides that explains a page, as page#heading below /docs, by the path of the
 * page; null for pages of visitors, redirects and the list of components. The compiler requires an
 * entry for each page, and a test of the package guides that each heading exists.
 */
export const guides: Record<Page, string | null> = {
  '/sign-in': null,
  '/register': null,
  '/forgot-password': null,
  '/reset-password': null,
  '/verify-email': null,
  '/invitations/$token': null,
  '/pricing': null,
  '/onboarding': null,
  '/onboarding/success': null,
  '/onboarding/plans': null,
  '/billing': null,
  '/webhooks': null,
  '/components': null,
  '/': 'concepts#plans-and-subscriptions',
  '/plan': 'rules/subscription#change-of-plan',
  '/plan/usage': 'concepts#meters-and-usage',
  '/invoices': 'invoices#read-invoices',
  '/invoices/$invoiceId': 'rules/invoices#status',
  '/team': 'roles#invite-a-member',
  '/team/roles': 'roles#create-a-custom-role',
  '/developers': 'api-keys#create-a-key-for-a-tenant',
  '/developers/requests': 'rules/request-log#requests',
  '/developers/webhooks/$endpointId': 'webhooks#a-message',
  '/developers/webhooks/$endpointId/$deliveryId': 'webhooks#resend-failed-deliveries',
  '/activity': 'rules/impersonation#time-lines',
  '/settings': 'self-service#organization',
  '/settings/sign-in': 'single-sign-on#verify-a-domain',
  '/profile': 'self-service#account',
  '/profile/security': 'second-factors#log-in',
  '/platform/': 'business#read-the-figures',
  '/platform/tenants': 'concepts#people-and-organizations',
  '/platform/tenants/$tenantId/': 'backend#change-a-tenant',
  '/platform/tenants/$tenantId/usage': 'metering#grant-extra-units',
  '/platform/tenants/$tenantId/invoices': 'invoices#customers-who-pay-by-invoice',
  '/platform/tenants/$tenantId/invoices/$invoiceId': 'invoices#credit-and-refund-an-invoice',
  '/platform/tenants/$tenantId/people': 'roles#built-in-roles',
  '/platform/tenants/$tenantId/keys': 'api-keys#create-a-key-for-a-tenant',
  '/platform/tenants/$tenantId/subscription': 'rules/subscription#by-the-platform',
  '/platform/tenants/$tenantId/activity': 'rules/impersonation#time-lines',
  '/platform/tenants/$tenantId/new-subscription': 'backend#sell-a-plan',
  '/platform/invoices': 'invoices#read-invoices',
  '/platform/invoices/credit-notes': 'invoices#credit-and-refund-an-invoice',
  '/platform/subscriptions': 'rules/subscription#statuses',
  '/platform/people': 'concepts#people-and-organizations',
  '/platform/catalog': 'rules/catalog#plans',
  '/platform/catalog/plans/$planId': 'rules/catalog#prices',
  '/platform/catalog/features': 'rules/catalog#features',
  '/platform/catalog/packs': 'pricing-models#prepaid-units',
  '/platform/catalog/codes': 'pricing-models#promotion-codes',
  '/platform/meters': 'metering#kinds-of-meters',
  '/platform/activity': 'rules/impersonation#audit-trail',
  '/platform/analytics': 'business#understand-the-figures',
  '/platform/developers': 'api-keys#create-the-first-key',
  '/platform/developers/webhooks/$endpointId': 'webhooks#a-message',
  '/platform/developers/deliveries': 'webhooks#resend-failed-deliveries',
  '/platform/developers/deliveries/$deliveryId': 'webhooks#resend-failed-deliveries',
  '/platform/developers/requests': 'rules/request-log#requests',
  '/platform/settings': 'rules/settings#where-settings-come-from',
  '/platform/settings/admins': 'roles#platform-administrators',
}
