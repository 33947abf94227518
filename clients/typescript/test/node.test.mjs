// The client in Node.js, against the program that TENANTRY_BIN names.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startSandbox } from '../../testing/dist/index.js'
import { apiKey, cookies, createClient, isTenantryError, memoryStore, readPermissions, recordUsage, TenantryError, tokens, verifyToken, cachedEntitlements, InvalidTokenError } from '../dist/index.js'
import { startProxy } from './world.mjs'

let sandbox
let proxy
before(async () => {
  sandbox = await startSandbox()
  proxy = await startProxy(sandbox.url)
})
after(async () => {
  await proxy?.close()
  await sandbox?.stop()
})
beforeEach(() => {
  proxy.mishaps.length = proxy.seen.length = 0
})

const clientOf = (owner, options) => {
  const store = memoryStore(owner && { accessToken: owner.accessToken, refreshToken: owner.refreshToken })
  return { store, client: createClient({ baseUrl: proxy.url, auth: tokens(store), ...options }) }
}
const refusedWith = (wanted) => (error) => {
  assert.ok(error instanceof TenantryError, String(error))
  for (const [key, value] of Object.entries(wanted)) assert.deepEqual(error[key], value, `${key} of ${error}`)
  return true
}

test('a login gives tokens, which calls carry and the logout gives up', async () => {
  const owner = await sandbox.createOwner()
  const { client, store } = clientOf()
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 401 }))
  await assert.rejects(
    client.POST('/api/v1/auth/login', { body: { email: owner.email, password: 'wrong' } }),
    refusedWith({ status: 401, code: 'INVALID_CREDENTIALS' }),
  )
  const { user } = await client.POST('/api/v1/auth/login', { body: { email: owner.email, password: owner.password } })
  assert.equal(user.email, owner.email)
  assert.equal((await client.GET('/api/v1/auth/me')).currentTenant.id, owner.tenantId)
  await client.POST('/api/v1/auth/logout')
  assert.equal(await store.get(), null)
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 401 }))
})

test('registering and accepting an invitation give tokens too', async () => {
  const email = `new-${Date.now()}@example.test`
  const { client, store } = clientOf()
  const password = 'correct horse'
  await client.POST('/api/v1/auth/register', { body: { name: 'New', email, password, password_confirmation: password, create_tenant: true, tenant_name: 'New' } })
  assert.ok((await store.get()).refreshToken)
  assert.equal((await client.GET('/api/v1/auth/me')).user.email, email)

  const owner = await sandbox.createOwner({ plan: 'starter' })
  const { client: inviting } = clientOf(owner)
  const path = { tenantId: owner.tenantId }
  const invited = `invited-${Date.now()}@example.test`
  await inviting.POST('/api/v1/tenant/{tenantId}/team/invitations', { params: { path }, body: { email: invited, role: 'member' } })
  const { links } = await sandbox.mail(invited, /invitations/)
  const token = links.find((link) => link.includes('/invitations/')).split('/').at(-1)
  const guest = clientOf()
  await guest.client.POST('/api/v1/invitations/{token}/accept-with-registration', { params: { path: { token } }, body: { name: 'Guest', email: invited, password, password_confirmation: password } })
  assert.equal((await guest.client.GET('/api/v1/auth/me')).currentTenant.id, owner.tenantId)
  const { may, mayAsAdmin } = await readPermissions(guest.client)
  assert.deepEqual([may('billing.manage'), mayAsAdmin('tenants.view')], [false, false])
  const own = await readPermissions(inviting)
  assert.deepEqual([own.may('billing.manage'), own.mayAsAdmin('tenants.view')], [true, false])
})

test('calls that find the access token expired share one refresh', async () => {
  const owner = await sandbox.createOwner()
  const { client, store } = clientOf(owner)
  await sandbox.advance('20m')
  const all = await Promise.all(Array.from({ length: 12 }, () => client.GET('/api/v1/auth/me')))
  assert.deepEqual(new Set(all.map((me) => me.user.email)), new Set([owner.email]))
  assert.equal(proxy.seen.filter((one) => one === 'POST /api/v1/auth/refresh').length, 1)
  assert.notEqual((await store.get()).refreshToken, owner.refreshToken)
  // A second request of the same person, whose store still has the pair from before.
  const late = clientOf(owner)
  assert.equal((await late.client.GET('/api/v1/auth/me')).user.email, owner.email)
  assert.deepEqual(await late.store.get(), await store.get())
  assert.equal(proxy.seen.filter((one) => one === 'POST /api/v1/auth/refresh').length, 1)
})

test('a caller that gives up does not end the refresh of the others', async () => {
  const owner = await sandbox.createOwner()
  const { client } = clientOf(owner)
  await sandbox.advance('20m')
  const leaving = new AbortController()
  const left = client.GET('/api/v1/auth/me', { signal: leaving.signal })
  const stayed = client.GET('/api/v1/auth/me')
  const seen = async () => {
    while (!proxy.seen.includes('POST /api/v1/auth/refresh')) await new Promise((then) => setTimeout(then, 1))
  }
  await seen()
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
  assert.equal((await stayed).user.email, owner.email)
})

test('a refresh is never sent twice, and one that is refused ends the login', async () => {
  const owner = await sandbox.createOwner()
  const { client, store } = clientOf(owner)
  await sandbox.advance('20m')
  proxy.mishaps.push(undefined, { after: 503 })
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 503 }))
  assert.deepEqual(proxy.seen, ['GET /api/v1/auth/me', 'POST /api/v1/auth/refresh'])
  assert.ok(await store.get(), 'a failure that may pass keeps the login')
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 401, code: 'INVALID_REFRESH_TOKEN' }))
  assert.equal(await store.get(), null)
})

test('refusals have status, code, message, fields and request', async () => {
  const owner = await sandbox.createOwner()
  const { client } = clientOf(owner, { locale: 'fr' })
  const error = await client.PATCH('/api/v1/user', { body: { name: '' } }).catch((refusal) => refusal)
  assert.ok(isTenantryError(error))
  assert.equal(error.status, 422)
  assert.deepEqual(Object.keys(error.fields), ['name'])
  assert.match(error.fields.name[0], /obligatoire|champ/)
  assert.equal(error.message, error.fields.name[0])
  assert.match(error.requestId, /^[0-9a-f-]{36}$/)
  const path = { tenantId: owner.tenantId }
  const busy = await client.POST('/api/v1/tenant/{tenantId}/subscription/resume', { params: { path } }).catch((refusal) => refusal)
  assert.equal(busy.status, 404)
  assert.equal(isTenantryError(busy, 'QUOTA_EXCEEDED'), false)
})

test('what only reads is repeated, what changes something is not', async () => {
  const { client } = clientOf(await sandbox.createOwner())
  proxy.mishaps.push({ before: 503 }, { cut: true })
  assert.equal((await client.GET('/api/v1/auth/me')).user.name, 'Ada Lovelace')
  assert.equal(proxy.seen.length, 3)

  proxy.seen.length = 0
  proxy.mishaps.push({ before: 502 }, { before: 503 }, { before: 504 })
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 504, message: 'mishap 504' }))
  assert.equal(proxy.seen.length, 3)

  for (const mishap of [{ before: 503 }, { cut: true }]) {
    proxy.seen.length = 0
    proxy.mishaps.push(mishap)
    await assert.rejects(client.PATCH('/api/v1/user', { body: { name: 'Ada' } }), refusedWith(mishap.cut ? { status: 0, code: 'unreachable' } : { status: 503 }))
    assert.equal(proxy.seen.length, 1)
  }
})

test('a rate limit is waited for, also where something changes; a quota is not', async () => {
  const { client } = clientOf(await sandbox.createOwner(), { maxPause: 1500 })
  const limited = (seconds) => ({ before: 429, headers: { 'Retry-After': String(seconds) } })
  proxy.mishaps.push(limited(1))
  const began = performance.now()
  assert.equal((await client.PATCH('/api/v1/user', { body: { name: 'Grace' } })).data.name, 'Grace')
  assert.ok(performance.now() - began >= 1000)
  assert.equal(proxy.seen.length, 2)

  proxy.mishaps.push(limited(60))
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 429, retryAfter: 60 }))
  proxy.seen.length = 0
  proxy.mishaps.push({ ...limited(0), body: { message: 'quota', code: 'QUOTA_EXCEEDED' } })
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ code: 'QUOTA_EXCEEDED' }))
  assert.equal(proxy.seen.length, 1)
})

test('usage is recorded once, though its answer was lost, and refused over the quota', async () => {
  const owner = await sandbox.createOwner({ plan: 'free' })
  const client = createClient({ baseUrl: proxy.url, auth: apiKey(await sandbox.createApiKey(['usage.write', 'usage.read'])) })
  proxy.mishaps.push({ after: 503 }, { cut: true })
  assert.equal(await recordUsage(client, owner.tenantId, { meter_code: 'api-calls', quantity: 60 }), false)
  assert.equal(proxy.seen.length, 3)
  assert.equal(await recordUsage(client, owner.tenantId, { meter_code: 'api-calls', quantity: 40, idempotency_key: 'one' }), true)
  assert.equal(await recordUsage(client, owner.tenantId, { meter_code: 'api-calls', quantity: 40, idempotency_key: 'one' }), false)
  await assert.rejects(recordUsage(client, owner.tenantId, { meter_code: 'api-calls' }), refusedWith({ status: 429, code: 'QUOTA_EXCEEDED' }))
  const params = { path: { tenantId: owner.tenantId } }
  const { data } = await client.GET('/api/v1/tenant/{tenantId}/usage/quotas', { params })
  assert.equal(data.meters.find((one) => one.meter_code === 'api-calls').current_usage, 100)

  // Without a key nobody knows whether it was stored, so it is not sent again.
  for (const [path, body] of [
    ['/api/v1/tenant/{tenantId}/usage', { meter_code: 'storage-gb' }],
    ['/api/v1/tenant/{tenantId}/usage/batch', { events: [{ meter_code: 'api-calls', idempotency_key: 'two' }, { meter_code: 'api-calls' }] }],
  ]) {
    proxy.seen.length = 0
    proxy.mishaps.push({ after: 503 })
    await assert.rejects(client.POST(path, { params, body }), refusedWith({ status: 503 }))
    assert.equal(proxy.seen.length, 1)
  }
  proxy.mishaps.push({ after: 503 })
  const batch = { events: [{ meter_code: 'api-calls', idempotency_key: 'three', quantity: 0 }] }
  const { data: results } = await client.POST('/api/v1/tenant/{tenantId}/usage/batch', { params, body: batch })
  assert.deepEqual(results.map((one) => one.status), [409])
})

test('time-outs and signals end a call', async () => {
  const { client } = clientOf(await sandbox.createOwner(), { timeout: 150, retries: 0 })
  proxy.mishaps.push({ hang: true })
  await assert.rejects(client.GET('/api/v1/auth/me'), refusedWith({ status: 0, code: 'timeout' }))

  proxy.mishaps.push({ hang: true })
  const { client: patient } = clientOf(await sandbox.createOwner(), { retries: 3 })
  await assert.rejects(patient.GET('/api/v1/auth/me', { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' })
  const stop = new AbortController()
  proxy.mishaps.push({ before: 503, headers: { 'Retry-After': '9' } })
  setTimeout(() => stop.abort(new Error('enough')), 100)
  await assert.rejects(patient.GET('/api/v1/auth/me', { signal: stop.signal }), /enough/)

  proxy.mishaps.push({ half: true })
  await assert.rejects(patient.GET('/api/v1/auth/me'), refusedWith({ status: 0, code: 'unreachable' }))
  const gone = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 })
  await assert.rejects(gone.GET('/api/v1/settings'), refusedWith({ status: 0, code: 'unreachable' }))
})

test('lists are read page by page, as far as they are wanted', async () => {
  const { client } = clientOf()
  await client.POST('/api/v1/auth/login', { body: sandbox.admin })
  const { data, meta } = await client.GET('/api/v1/admin/plans', { params: { query: { per_page: 100 } } })
  assert.equal(meta.last_page, 1)
  proxy.seen.length = 0
  const slugs = []
  for await (const plan of client.each('/api/v1/admin/plans', { params: { query: { per_page: 2 } } })) slugs.push(plan.slug)
  assert.deepEqual(slugs, data.map((plan) => plan.slug))
  assert.equal(proxy.seen.length, Math.ceil(data.length / 2))

  proxy.seen.length = 0
  const ids = []
  for await (const entry of client.each('/api/v1/admin/activity', { params: { query: { per_page: 2 } } })) {
    ids.push(entry.id)
    if (ids.length === 5) break
  }
  assert.equal(new Set(ids).size, 5)
  assert.equal(proxy.seen.length, 3)
  const all = []
  for await (const currency of client.each('/api/v1/admin/currencies')) all.push(currency.code)
  assert.ok(all.includes('EUR'))
})

test('a server calls with the cookies of the person whose page it renders', async () => {
  const owner = await sandbox.createOwner()
  const origin = 'http://127.0.0.1:4000'
  const first = await fetch(`${sandbox.url}/csrf-cookie`, { headers: { Origin: origin } })
  const session = (response) => response.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ')
  const login = await fetch(`${sandbox.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: origin, Cookie: session(first), 'X-XSRF-TOKEN': first.headers.get('X-CSRF-Token') },
    body: JSON.stringify({ email: owner.email, password: owner.password }),
  })
  assert.equal(login.status, 200)
  const client = createClient({ baseUrl: proxy.url, auth: cookies({ cookie: session(login), origin }) })
  assert.equal((await client.GET('/api/v1/auth/me')).user.email, owner.email)
  const changing = createClient({ baseUrl: sandbox.url, auth: cookies({ cookie: session(login), origin }) })
  assert.equal((await changing.PATCH('/api/v1/user', { body: { name: 'Mary' } })).data.name, 'Mary')
})

test('a path with a base, files, and answers without content', async () => {
  const owner = await sandbox.createOwner()
  const { client } = clientOf(owner)
  assert.equal(createClient({ baseUrl: `${proxy.url}//` }).baseUrl, proxy.url)
  assert.equal(await client.DELETE('/api/v1/user/sessions'), undefined)
  const text = await client.GET('/api/v1/tenant/{tenantId}/usage/export', {
    params: { path: { tenantId: owner.tenantId }, query: { meter_code: 'api-calls', format: 'csv' } },
    parseAs: 'text',
  })
  assert.match(text, /,/)
})

test('a backend verifies the token of a user, and caches entitlements', async () => {
  const owner = await sandbox.createOwner({ plan: 'starter' })
  const { client } = clientOf(owner)
  const { data } = await client.POST('/api/v1/auth/token')
  const backend = createClient({ baseUrl: proxy.url })
  const claims = await verifyToken(backend, data.token, { issuer: sandbox.url })
  assert.equal(claims.tid, owner.tenantId)
  assert.equal(claims.plan, 'starter')
  assert.deepEqual(claims.amr, ['pwd'])
  const list = await cachedEntitlements(client, owner.tenantId)
  assert.deepEqual(Object.keys(claims.features).sort(), list.map((feature) => feature.key).sort())
  await assert.rejects(verifyToken(backend, data.token), InvalidTokenError) // of another issuer
  await assert.rejects(verifyToken(backend, owner.accessToken, { issuer: sandbox.url }), InvalidTokenError)
})
