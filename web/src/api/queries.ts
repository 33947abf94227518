import { onlineManager, QueryClient } from '@tanstack/react-query'
import { ApiError } from './client'

/** Called when a request fails because the session has expired. */
let onExpired = () => {}

/** Sets the handler for an expired session. */
export function whenExpired(then: () => void): void {
  onExpired = then
}

/** Called when a request fails because the impersonation has ended. */
let onActingEnded = () => {}

/** Sets the handler for an impersonation that ended. */
export function whenActingEnded(then: () => void): void {
  onActingEnded = then
}

/** What the service requires before it answers requests: a second factor, or a login with SSO. */
export type Requirement = 'factor' | 'sso'

/** Called when a request fails because of a requirement. */
let onRequired: (requirement: Requirement) => void = () => {}

/** Sets the handler for requirements. */
export function whenRequired(then: (requirement: Requirement) => void): void {
  onRequired = then
}

/**
 * Calls the handlers for errors that affect every request: an expired session, an ended
 * impersonation, or an unmet requirement.
 */
function noteEnd(error: unknown): void {
  if (!(error instanceof ApiError)) return
  if (error.status === 401) onExpired()
  if (error.code === 'IMPERSONATION_EXPIRED') onActingEnded()
  if (error.code === 'MFA_ENROLLMENT_REQUIRED') onRequired('factor')
  if (error.code === 'SSO_REQUIRED') onRequired('sso')
}

/**
 * Reports whether a retry can help: the service was unavailable, rather than rejecting the request.
 */
export function worthRetrying(count: number, error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  if (error.status === 0 && !onlineManager.isOnline()) return false
  return count < 2 && (error.status === 0 || error.status === 502 || error.status === 503 || error.status === 504)
}

export function newQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      // Offline, a request fails immediately instead of waiting for the network.
      queries: { retry: worthRetrying, staleTime: 15_000, refetchOnWindowFocus: true, networkMode: 'always', refetchOnReconnect: true },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
  client.getQueryCache().config.onError = noteEnd
  client.getMutationCache().config.onError = noteEnd
  return client
}
