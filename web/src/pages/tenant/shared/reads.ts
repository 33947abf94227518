import { keepPreviousData, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { $api } from '../../../api/client'
import { useHolds, useTenant } from '../../../app/session'

/** Returns the path parameters of all routes of the user's tenant. */
export function useHere() {
  const { id } = useTenant()
  return { params: { path: { tenantId: id } } }
}

/** The running subscription, or null. */
export function useSubscription() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/subscription', useHere())
}

/** The default plan, which applies without a subscription. Reads nothing while there is a subscription. */
export function useDefaultPlan() {
  const subscription = useSubscription()
  return $api.useQuery('get', '/api/v1/catalog/plans', {}, { enabled: subscription.isSuccess && !subscription.data.data, select: ({ data }) => data.find((one) => one.is_default) })
}

/** The payment method of the next invoice, for members with billing permission. */
export function usePaymentMethod() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/billing/payment-method', useHere(), { enabled: useHolds()('billing.manage') })
}

/** The last failed payment that is still owed, for members with billing permission. */
export function useFailedPayment() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/billing/failed-payment', useHere(), { enabled: useHolds()('billing.manage') })
}

/** The credit that the next invoices use, for members with billing permission. */
export function useCredit() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/credit', useHere(), { enabled: useHolds()('billing.manage') })
}

/** The newest invoices: earlier plans, and changes of the credit. */
export function useNewestInvoices() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices', { params: { ...useHere().params, query: { per_page: 25 } } })
}

/** The last invoices, for the home. */
export function useLastInvoices() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices', { params: { ...useHere().params, query: { per_page: 5 } } })
}

/** The features that the tenant's plan grants, with their quotas. */
export function useEntitlements() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/entitlements', useHere())
}

/**
 * The unpaid invoices, except the invoice of a pending change, which is due only after
 * confirmation.
 */
export function useOpenInvoices() {
  const pending = useSubscription().data?.data?.pending_change?.payment_action?.url
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices', { params: { ...useHere().params, query: { status: 'open', per_page: 10 } } }, {
    select: (page) => (pending ? { ...page, data: page.data.filter((one) => one.payment_action?.url !== pending) } : page),
  })
}

export function useTeamStats() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/stats', useHere())
}

/** A page of the members, found by words of their name or email. */
export function useMemberPage(page: number, search: string | undefined) {
  const params = { ...useHere().params, query: { page, per_page: 25, search } }
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/members', { params }, { placeholderData: keepPreviousData })
}

export function useMembers() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/members', useHere())
}

/** The roles with their permissions, for members who can change them. */
export function useRoles() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/roles', useHere(), { enabled: useHolds()('roles.manage') })
}

/** Pending invitations, including expired ones. */
export function useInvitations() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/invitations', useHere())
}

/**
 * Returns a function that reloads all queries whose path contains one of the parts, and the tenant
 * and user.
 */
export function useRefresh(): (...parts: string[]) => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async (...parts) => {
    // Never reload a preview: the previewed change may have been made.
    const preview = ({ queryKey }: { queryKey: readonly unknown[] }) => String(queryKey[1]).endsWith('/preview-change')
    queries.removeQueries({ type: 'inactive', predicate: preview })
    await queries.invalidateQueries({
      predicate: (query) => typeof query.queryKey[1] === 'string' && !preview(query) && parts.some((part) => String(query.queryKey[1]).includes(part)),
    })
    await Promise.all([queries.invalidateQueries({ queryKey: ['tenant'] }), queries.invalidateQueries({ queryKey: ['audit'] }), queries.invalidateQueries({ queryKey: ['me'] })])
  }, [queries])
}
