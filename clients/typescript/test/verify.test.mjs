// Tokens and cached entitlements, with a service that the test plays.
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { mock, test } from 'node:test'
import { apiKey, cachedEntitlements, createClient, InvalidTokenError, TenantryError, verifyToken } from '../dist/index.js'

const issuer = 'https://billing.example.com'
const encode = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A service that publishes the keys of an object, and answers as the test says. */
function serviceOf(keys, options = {}) {
  const service = { seen: [], answer: undefined }
  service.client = createClient({
    baseUrl: issuer, auth: apiKey('secret'), retries: 0, ...options,
    fetch: async (request) => {
      service.seen.push(new URL(request.url).pathname)
      if (service.answer) return service.answer(request)
      const list = Object.entries(keys).map(([kid, pair]) => ({ ...pair.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }))
      return Response.json({ keys: [...list, { kty: 'RSA', kid: 'rsa', n: 'AQAB', e: 'AQAB' }] })
    },
  })
  return service
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const claimsWith = (change = {}) => {
  const now = Math.floor(Date.now() / 1000)
  return {
    iss: issuer, aud: issuer, sub: '7', tid: 't-1', tenant_name: 'Engines', role: 'owner', permissions: ['team.invite'], plan: 'starter',
    features: { 'api-calls': 5000, 'studio-access': true }, amr: ['pwd'], sid: 's-1', iat: now, exp: now + 300, ...change,
  }
}
const tokenOf = (pair, kid, claims = claimsWith(), header = {}) => {
  const signed = `${encode({ alg: 'ES256', typ: 'JWT', kid, ...header })}.${encode(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

test('a token is verified with the cached key set', async () => {
  const keys = { a: newKey(), b: newKey() }
  const { client, seen } = serviceOf(keys)
  const claims = claimsWith()
  assert.deepEqual(await verifyToken(client, tokenOf(keys.a, 'a', claims)), claims)
  await Promise.all([1, 2, 3].map(() => verifyToken(client, tokenOf(keys.b, 'b'))))
  assert.deepEqual(seen, ['/.well-known/jwks.json'])
  const other = claimsWith({ iss: 'https://id.example.com', aud: ['x', 'shop'], act: { sub: '1' } })
  const verified = await verifyToken(client, tokenOf(keys.a, 'a', other), { issuer: 'https://id.example.com/', audience: 'shop' })
  assert.deepEqual(verified.act, { sub: '1' })
})

test('concurrent first calls share a request', async () => {
  const keys = { a: newKey() }
  const { client, seen } = serviceOf(keys)
  await Promise.all([1, 2, 3].map(() => verifyToken(client, tokenOf(keys.a, 'a'))))
  assert.equal(seen.length, 1)
})

test('an invalid token is refused', async () => {
  const keys = { a: newKey(), b: newKey() }
  const { client } = serviceOf(keys)
  const now = Math.floor(Date.now() / 1000)
  const good = tokenOf(keys.a, 'a')
  const [header, payload, signature] = good.split('.')
  const without = (name) => {
    const { [name]: _, ...rest } = claimsWith()
    return rest
  }
  const invalid = {
    'empty': '', 'an access token': 'x'.repeat(43), 'two parts': `${header}.${payload}`, 'four parts': `${good}.x`,
    'no signature': `${header}.${payload}.`, 'a short signature': good.slice(0, -4), 'not base64': `${header}.${payload}.***`,
    'not JSON': `${encode('x')}.${payload}.${signature}`, 'no object': `${encode('null')}.${payload}.${signature}`,
    'none': `${encode({ alg: 'none', kid: 'a' })}.${payload}.`, 'HS256': `${encode({ alg: 'HS256', kid: 'a' })}.${payload}.${signature}`,
    'other claims': `${header}.${tokenOf(keys.a, 'a', claimsWith({ sub: '8' })).split('.')[1]}.${signature}`,
    "another key's ID": tokenOf(keys.a, 'b'), 'an unusable key': tokenOf(keys.a, 'rsa'), 'no key': tokenOf(keys.a, undefined),
    'critical': tokenOf(keys.a, 'a', claimsWith(), { crit: ['exp'] }),
    'issuer': tokenOf(keys.a, 'a', claimsWith({ iss: 'https://evil.example.com' })), 'audience': tokenOf(keys.a, 'a', claimsWith({ aud: 'other' })),
    'no issuer': tokenOf(keys.a, 'a', without('iss')), 'no audience': tokenOf(keys.a, 'a', without('aud')),
    'no subject': tokenOf(keys.a, 'a', without('sub')), 'no expiry': tokenOf(keys.a, 'a', without('exp')),
    'expired': tokenOf(keys.a, 'a', claimsWith({ exp: now - 61 })), 'from the future': tokenOf(keys.a, 'a', claimsWith({ iat: now + 90, exp: now + 390 })),
  }
  for (const [name, token] of Object.entries(invalid)) await assert.rejects(verifyToken(client, token), InvalidTokenError, name)
  for (const change of [{ exp: now - 50 }, { iat: now + 50 }]) await verifyToken(client, tokenOf(keys.a, 'a', claimsWith(change)))
})

test('an unknown key is looked up at most once a minute, and known keys work during an outage', async () => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  try {
    const keys = { a: newKey() }
    const service = serviceOf(keys)
    const verify = (kid) => verifyToken(service.client, tokenOf(keys[kid], kid))
    service.answer = () => { throw new TypeError('fetch failed') }
    await assert.rejects(verify('a'), (error) => error instanceof TenantryError && error.code === 'unreachable')
    service.answer = undefined
    await verify('a')
    assert.equal(service.seen.length, 2)
    keys.b = newKey()
    await verify('b')
    keys.c = newKey()
    for (let i = 0; i < 3; i++) await assert.rejects(verify('c'), InvalidTokenError)
    assert.equal(service.seen.length, 3)
    mock.timers.tick(60_000)
    await verify('c')
    assert.equal(service.seen.length, 4)
    mock.timers.tick(5 * 60_000) // the set is loaded again in the background
    service.answer = () => Response.json({ message: 'broken' }, { status: 500 })
    await verify('a')
    await new Promise(setImmediate)
    assert.equal(service.seen.length, 5)
    mock.timers.tick(24 * 3_600_000)
    await assert.rejects(verify('a'), (error) => error.status === 500)
  } finally {
    mock.timers.reset()
  }
})

test('entitlements are cached for a minute, and for a day during an outage', async () => {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  try {
    const service = serviceOf({})
    const answer = (limit, more = {}) => () => Response.json({ data: [{ key: 'api-calls', enabled: true, type: 'quota', limit, used: null, remaining: null }], ...more })
    const failing = (status) => () => Response.json({ message: `${status}` }, { status })
    const unreachable = () => { throw new TypeError('fetch failed') }
    const limit = async (tenant = 't') => (await cachedEntitlements(service.client, tenant))[0].limit
    const refused = (status) => assert.rejects(limit(), (error) => error.status === status)

    service.answer = answer(1)
    assert.deepEqual(await Promise.all([limit(), limit(), limit('u')]), [1, 1, 1])
    assert.equal(service.seen.length, 2)
    service.answer = answer(2)
    mock.timers.tick(59_999)
    assert.equal(await limit(), 1)
    mock.timers.tick(1)
    assert.equal(await limit(), 2)
    for (const outage of [unreachable, failing(500), failing(503)]) {
      service.answer = outage
      mock.timers.tick(60_000)
      assert.equal(await limit(), 2)
    }
    mock.timers.tick(24 * 3_600_000 - 180_000)
    await refused(503)

    for (const status of [401, 403, 404]) {
      service.answer = answer(3)
      assert.equal(await limit(), 3)
      mock.timers.tick(60_000)
      service.answer = failing(status)
      await refused(status)
      service.answer = failing(500) // the former entitlements do not come back
      await refused(500)
    }

    service.answer = answer(4, { valid_until: new Date(Date.now() + 90_000).toISOString() })
    assert.equal(await limit(), 4)
    service.answer = unreachable
    mock.timers.tick(70_000)
    assert.equal(await limit(), 4)
    mock.timers.tick(20_000)
    await refused(0)
    service.answer = answer(5, { valid_until: new Date(Date.now() + 30_000).toISOString() })
    assert.equal(await limit(), 5)
    service.answer = answer(6, { valid_until: null })
    mock.timers.tick(30_000)
    assert.equal(await limit(), 6)

    const list = await cachedEntitlements(service.client, 't') // belongs to the caller
    list.length = 0
    assert.equal(await limit(), 6)
  } finally {
    mock.timers.reset()
  }
})

test('a service that does not answer delays a caller with cached entitlements by 5 seconds', async () => {
  const service = serviceOf({})
  service.answer = () => Response.json({ data: [] })
  await cachedEntitlements(service.client, 't')
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: Date.now() + 60_000 })
  try {
    service.answer = () => new Promise(() => {})
    const waiting = cachedEntitlements(service.client, 't')
    mock.timers.tick(5_000)
    assert.deepEqual(await waiting, [])
  } finally {
    mock.timers.reset()
  }
})
