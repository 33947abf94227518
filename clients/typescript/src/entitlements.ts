import type { Schema, Tenantry } from './client.js'
import { TenantryError } from './error.js'

/** For how many milliseconds entitlements are returned without a request. */
const fresh = 60_000
/** The age up to which they replace an answer during an outage. */
const stale = 24 * 3_600_000
/** How long a request may take that entitlements of an earlier answer can replace. */
const patience = 5_000
/** How many tenants are cached. */
const most = 10_000

type Entitlement = Schema<'Entitlement'>

interface Cached {
  list: Entitlement[]
  /** When the request began. */
  loaded: number
  /** The earliest valid_until of the answer; Infinity without one. */
  until: number
}

interface Cache {
  tenants: Map<string, Cached>
  loading: Map<string, Promise<Cached>>
}

const caches = new WeakMap<Tenantry, Cache>()

/**
 * Returns the entitlements of a tenant, from a cache of the client. They are cached for a minute. If the service is
 * unreachable or answers with a 5xx status, entitlements that are up to 24 hours old are returned, but never after
 * their `valid_until` if the answer had one. Other errors are thrown; 401, 403 and 404 also remove the entitlements
 * from the cache.
 */
export async function cachedEntitlements(tenantry: Tenantry, tenantId: string): Promise<Entitlement[]> {
  let cache = caches.get(tenantry)
  if (!cache) caches.set(tenantry, (cache = { tenants: new Map(), loading: new Map() }))
  const cached = cache.tenants.get(tenantId)
  if (cached && isUsable(cached, fresh)) return [...cached.list]
  const replaceable = cached !== undefined && isUsable(cached, stale)
  let loading = cache.loading.get(tenantId)
  if (!loading) {
    loading = load(tenantry, cache, tenantId)
    cache.loading.set(tenantId, loading)
  }
  try {
    return [...(await (replaceable ? within(loading) : loading)).list]
  } catch (error) {
    if (replaceable && isOutage(error) && isUsable(cached, stale)) return [...cached.list]
    throw error
  }
}

function isUsable({ loaded, until }: Cached, age: number): boolean {
  const now = Date.now()
  return now - loaded < age && now < until
}

/** Reports whether a call failed because the service is unreachable or out of order. */
function isOutage(error: unknown): boolean {
  return error instanceof TenantryError && (error.status === 0 || error.status >= 500)
}

async function load(tenantry: Tenantry, { tenants, loading }: Cache, tenantId: string): Promise<Cached> {
  const loaded = Date.now()
  try {
    const answer = await tenantry.GET('/api/v1/tenant/{tenantId}/entitlements', { params: { path: { tenantId } } })
    const limits = [answer, ...answer.data] as { valid_until?: string | null }[]
    const until = Math.min(...limits.map((limit) => (limit.valid_until ? Date.parse(limit.valid_until) : Infinity)))
    const cached = { list: answer.data, loaded, until }
    tenants.delete(tenantId)
    tenants.set(tenantId, cached)
    if (tenants.size > most) tenants.delete(tenants.keys().next().value as string)
    return cached
  } catch (error) {
    if (error instanceof TenantryError && [401, 403, 404].includes(error.status)) tenants.delete(tenantId)
    throw error
  } finally {
    loading.delete(tenantId)
  }
}

/** Waits for a request, but not longer than an outage may delay the caller. */
function within<T>(request: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new TenantryError({ status: 0, code: 'timeout', message: 'The service did not answer in time.' }))
    const timer = setTimeout(late, patience)
    request.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
