import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { $api } from '../../../api/client'
import { useMay, useTenant } from '../../../app/session'

/** The path's parameters of all routes of the caller's tenant. */
export function useHere() {
  const { id } = useTenant()
  return { params: { path: { tenantId: id } } }
}

/** The subscription that is not over, or null. */
export function useSubscription() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/subscription', useHere())
}

/** How the next invoice is paid, for who may manage the billing. */
export function usePaymentMethod() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/billing/payment-method', useHere(), { enabled: useMay()('billing.manage') })
}

/** The last payment that failed and is still owed, for who may manage the billing. */
export function useFailedPayment() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/billing/failed-payment', useHere(), { enabled: useMay()('billing.manage') })
}

/** The credit that the next invoices use, for members who may manage the billing. */
export function useCredit() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/credit', useHere(), { enabled: useMay()('billing.manage') })
}

/** The newest invoices: what the tenant had before, and how invoices changed the credit. */
export function useNewestInvoices() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices', { params: { ...useHere().params, query: { per_page: 25 } } })
}

/** The features that the tenant's plan grants, without a quota or with one. */
export function useEntitlements() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/entitlements', useHere())
}

/** The invoices that wait for their payment, except the invoice of a pending change: it is due only once the change is confirmed. */
export function useOpenInvoices() {
  const pending = useSubscription().data?.data?.pending_change?.payment_action?.url
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices', { params: { ...useHere().params, query: { status: 'open', per_page: 10 } } }, {
    select: (page) => (pending ? { ...page, data: page.data.filter((one) => one.payment_action?.url !== pending) } : page),
  })
}

export function useTeamStats() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/stats', useHere())
}

export function useMembers() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/members', useHere())
}

/** The roles with what they may do, for who may change them. */
export function useRoles() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/roles', useHere(), { enabled: useMay()('roles.manage') })
}

/** Invitations that wait for an answer, also those whose time is over. */
export function useInvitations() {
  return $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/invitations', useHere())
}

/** Returns what reads again all whose address has one of the parts, and the tenant and person. */
export function useRefresh(): (...parts: string[]) => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async (...parts) => {
    // A preview is never read again by itself: what it was for may have been done.
    const preview = ({ queryKey }: { queryKey: readonly unknown[] }) => String(queryKey[1]).endsWith('/preview-change')
    queries.removeQueries({ type: 'inactive', predicate: preview })
    await queries.invalidateQueries({
      predicate: (query) => typeof query.queryKey[1] === 'string' && !preview(query) && parts.some((part) => String(query.queryKey[1]).includes(part)),
    })
    await Promise.all([queries.invalidateQueries({ queryKey: ['tenant'] }), queries.invalidateQueries({ queryKey: ['audit'] }), queries.invalidateQueries({ queryKey: ['me'] })])
  }, [queries])
}
