import type { Schema, Tenantry } from './client.js'
import { TenantryError } from './error.js'

/**
 * Records a usage event, which counts once however often it is sent: without an `idempotency_key` it
 * is given one, so that it can be repeated after a failure. Resolves with false where the same event
 * was recorded before. A quota that does not allow it is a TenantryError with the code
 * `QUOTA_EXCEEDED`.
 */
export async function recordUsage(tenantry: Tenantry, tenantId: string, event: Schema<'UsageEventInput'>, signal?: AbortSignal): Promise<boolean> {
  const body = { ...event, idempotency_key: event.idempotency_key ?? crypto.randomUUID() }
  try {
    await tenantry.POST('/api/v1/tenant/{tenantId}/usage', { params: { path: { tenantId } }, body, ...(signal && { signal }) })
    return true
  } catch (error) {
    if (error instanceof TenantryError && error.status === 409 && error.code === undefined) return false
    throw error
  }
}
