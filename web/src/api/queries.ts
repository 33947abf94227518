import { onlineManager, QueryClient } from '@tanstack/react-query'
import { ApiError } from './client'

/** Called when a request that needs a login is refused because there is none any more. */
let onExpired = () => {}

/** Sets what happens when the login has ended while somebody works. */
export function whenExpired(then: () => void): void {
  onExpired = then
}

/** Called when a request is refused because acting as a member has ended. */
let onActingEnded = () => {}

/** Sets what happens when acting as a member has ended while an administrator works. */
export function whenActingEnded(then: () => void): void {
  onActingEnded = then
}

/** Reports a refusal that concerns every request: there is no login any more, or acting as a member has ended. */
function noteEnd(error: unknown): void {
  if (!(error instanceof ApiError)) return
  if (error.status === 401) onExpired()
  if (error.code === 'IMPERSONATION_EXPIRED') onActingEnded()
}

/** Reports whether another attempt may help: the service was away, not that it refused. */
export function worthRetrying(count: number, error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  if (error.status === 0 && !onlineManager.isOnline()) return false
  return count < 2 && (error.status === 0 || error.status === 502 || error.status === 503 || error.status === 504)
}

export function newQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      // Offline a request fails at once and says so, in place of waiting for who knows how long.
      queries: { retry: worthRetrying, staleTime: 15_000, refetchOnWindowFocus: true, networkMode: 'always', refetchOnReconnect: true },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
  client.getQueryCache().config.onError = noteEnd
  client.getMutationCache().config.onError = noteEnd
  return client
}
