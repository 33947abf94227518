// What the compiler has to accept and refuse. It is checked, not run.
import { createClient, recordUsage, tokens, type Answer, type Entry, type ErrorCode, type Schema, TenantryError } from '../src/index.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T => true as T

const tenantry = createClient({ baseUrl: '', auth: tokens() })
const params = { path: { tenantId: 'a' } }

export async function accepted(): Promise<void> {
  const me = await tenantry.GET('/api/v1/auth/me')
  holds<Same<typeof me, Schema<'Profile'>>>()
  const plans = await tenantry.GET('/api/v1/tenant/{tenantId}/plans', { params, signal: AbortSignal.timeout(1) })
  holds<Same<(typeof plans.data)[number], Schema<'OfferedPlan'>>>()
  const nothing = await tenantry.DELETE('/api/v1/user/sessions')
  holds<Same<typeof nothing, void>>()
  const file = await tenantry.GET('/api/v1/tenant/{tenantId}/invoices/{invoiceId}/pdf', { params: { path: { tenantId: 'a', invoiceId: 'b' } }, parseAs: 'blob' })
  holds<Same<typeof file, Blob>>()
  for await (const member of tenantry.each('/api/v1/tenant/{tenantId}/team/members', { params })) holds<Same<typeof member.email, string>>()
  holds<Same<Entry<'/api/v1/admin/plans'>['slug'], string>>()
  holds<Same<Answer<'/api/v1/auth/login', 'post'>, Schema<'Login'>>>()
  await recordUsage(tenantry, 'a', { meter_code: 'api-calls', quantity: 2 })
}

export async function refused(): Promise<void> {
  // @ts-expect-error there is no such path
  await tenantry.GET('/api/v1/nothing')
  // @ts-expect-error the path has no such method
  await tenantry.POST('/api/v1/auth/me')
  // @ts-expect-error the tenant is missing
  await tenantry.GET('/api/v1/tenant/{tenantId}/plans')
  // @ts-expect-error the password is missing
  await tenantry.POST('/api/v1/auth/login', { body: { email: 'a@example.com' } })
  // @ts-expect-error the quantity is a number
  await tenantry.POST('/api/v1/tenant/{tenantId}/usage', { params, body: { meter_code: 'a', quantity: '1' } })
  // @ts-expect-error a value that the parameter does not have
  await tenantry.GET('/api/v1/admin/activity', { params: { query: { kind: 'gossip' } } })
  // @ts-expect-error this path answers no list
  tenantry.each('/api/v1/auth/me')
  const code: ErrorCode = 'QUOTA_EXCEEDED'
  // @ts-expect-error there is no such code
  const wrong: ErrorCode = 'OUT_OF_LUCK'
  throw new TenantryError({ status: 429, message: '', code: code === wrong ? code : wrong })
}
