// The kit against the program that TENANTRY_BIN names.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cards, startSandbox } from '../dist/index.js'

let sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.stop())

const get = async (path, token) => {
  const response = await fetch(sandbox.url + path, { headers: { Authorization: `Bearer ${token}` } })
  assert.equal(response.status, 200, path)
  return response.json()
}

test('the demo accounts can log in', async () => {
  for (const account of [sandbox.admin, sandbox.demoOwner]) {
    const response = await fetch(`${sandbox.url}/api/v1/auth/login`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(account),
    })
    assert.equal(response.status, 200, account.email)
  }
})

test('an owner is verified, completely set up and has a plan', async () => {
  const owner = await sandbox.createOwner({ organization: 'Bakery', plan: 'starter', verified: true })
  const me = await get('/api/v1/auth/me', owner.accessToken)
  assert.equal(me.user.email_verified, true)
  assert.deepEqual(me.currentTenant, { id: owner.tenantId, name: 'Bakery' })
  assert.notEqual(me.user.tenants[0].onboarding_completed_at, null)
  const { data } = await get(`/api/v1/tenant/${owner.tenantId}/subscription`, owner.accessToken)
  assert.equal(data.status, 'active')
})

test('the default plan needs no purchase', async () => {
  const owner = await sandbox.createOwner({ plan: 'free' })
  const { data } = await get(`/api/v1/tenant/${owner.tenantId}/subscription`, owner.accessToken)
  assert.equal(data, null)
  await sandbox.subscribe(owner, 'starter')
  await assert.rejects(sandbox.subscribe(owner, 'free'), /422/)
})

test('an unknown plan and a declined card are errors', async () => {
  const owner = await sandbox.createOwner()
  await assert.rejects(sandbox.subscribe(owner, 'gold'), /no plan gold, but free, starter/)
  await assert.rejects(sandbox.subscribe(owner, 'starter', { card: cards.declined }), /402/)
})

test('mails have their links', async () => {
  const owner = await sandbox.createOwner()
  await fetch(`${sandbox.url}/api/v1/auth/forgot-password`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email: owner.email }),
  })
  const mail = await sandbox.mail(owner.email, /reset-password/)
  assert.equal(mail.to, owner.email)
  assert.ok(mail.links.some((link) => new URL(link).searchParams.get('token')), mail.text)
  assert.deepEqual((await sandbox.mails(owner.email))[0], mail, 'the newest comes first')
  await assert.rejects(sandbox.mail(owner.email, /a fortune/, 50), /no mail to/)
})

test('a payment fails at the renewal, and is paid again', async () => {
  const owner = await sandbox.createOwner({ plan: 'starter' })
  const other = await sandbox.createOwner({ plan: 'starter' })
  const status = async ({ tenantId, accessToken }) => (await get(`/api/v1/tenant/${tenantId}/subscription`, accessToken)).data.status
  const until = async (who, wanted) => {
    for (let i = 0; i < 200 && (await status(who)) !== wanted; i++) await new Promise((then) => setTimeout(then, 50))
    assert.equal(await status(who), wanted)
  }
  const before = await sandbox.now()
  await sandbox.failPayments(owner.tenantId)
  const then = await sandbox.advance('768h')
  assert.ok(then - before >= 768 * 3_600_000)
  // The access tokens have expired meanwhile.
  for (const one of [owner, other]) {
    const response = await fetch(`${sandbox.url}/api/v1/auth/login`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email: one.email, password: one.password }),
    })
    one.accessToken = (await response.json()).accessToken
  }
  await until(owner, 'past_due')
  assert.equal(await status(other), 'active')
  await sandbox.allowPayments(owner.tenantId)
  await sandbox.advance(new Date(then.getTime() + 8 * 86_400_000)) // the provider tries again
  const response = await fetch(`${sandbox.url}/api/v1/auth/login`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ email: owner.email, password: owner.password }),
  })
  owner.accessToken = (await response.json()).accessToken
  await until(owner, 'active')
})

test('an API key records usage, and webhooks arrive', async () => {
  const owner = await sandbox.createOwner({ plan: 'free' })
  const key = await sandbox.createApiKey(['usage.write'])
  const endpoint = await fetch(`${sandbox.url}/api/v1/tenant/${owner.tenantId}/webhook-endpoints`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${owner.accessToken}` },
    body: JSON.stringify({ url: sandbox.hook('kit'), events: ['usage.quota_reached'] }),
  })
  assert.equal(endpoint.status, 201, await endpoint.text())
  const record = (quantity) => fetch(`${sandbox.url}/api/v1/tenant/${owner.tenantId}/usage`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify({ meter_code: 'api-calls', quantity }),
  })
  assert.equal((await record(100)).status, 201)
  assert.equal((await record(1)).status, 429)
  let found
  for (let i = 0; i < 200 && !found; i++) {
    found = (await sandbox.hooks()).find((one) => one.body.tenant_id === owner.tenantId)
    await new Promise((then) => setTimeout(then, 50))
  }
  assert.equal(found?.body.type, 'usage.quota_reached')
  assert.equal(found.signature_valid, true)
})

test('the provider misbehaves while it is told to', async () => {
  const owner = await sandbox.createOwner()
  await sandbox.chaos({ api: { fail_before: 1 } })
  try {
    await assert.rejects(sandbox.subscribe(owner, 'starter'), /502|503/)
  } finally {
    await sandbox.chaos({})
  }
  await sandbox.subscribe(owner, 'starter')
})

test('a program that is not there, or does not start, says why', async () => {
  await assert.rejects(startSandbox({ program: '/nowhere/tenantry' }), /no such program.*TENANTRY_BIN/s)
  await assert.rejects(startSandbox({ settings: { TENANTRY_PUBLIC_URL: 'nonsense' } }), /ended with status \d+\.\n.*TENANTRY_PUBLIC_URL/s)
})

test('a test run that a signal ends leaves no service behind', async () => {
  const kit = new URL('../dist/index.js', import.meta.url)
  const run = spawn(process.execPath, ['--input-type=module', '-e', `const { startSandbox } = await import('${kit}'); console.log((await startSandbox()).url)`], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = await once(run.stdout, 'data')
  const url = text.toString().trim()
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  run.kill('SIGTERM')
  const [, signal] = await once(run, 'exit')
  assert.equal(signal, 'SIGTERM')
  // Nothing is asked of it: it could end because it cannot write to its log any more.
  const listens = () => new Promise((tell) => {
    const socket = connect({ port: new URL(url).port, host: '127.0.0.1' })
    socket.once('connect', () => (socket.destroy(), tell(true))).once('error', () => tell(false))
  })
  for (let i = 0; i < 100 && (await listens()); i++) await new Promise((then) => setTimeout(then, 20))
  assert.equal(await listens(), false)
})

const go = spawnSync('go', ['version']).status === 0
test('the program is built from a folder with its source', { skip: go ? false : 'there is no Go here' }, async () => {
  const built = await startSandbox({ source: fileURLToPath(new URL('../../..', import.meta.url)), timeout: 60_000 })
  assert.equal((await fetch(`${built.url}/readyz`)).status, 200)
  await built.stop()
  await assert.rejects(startSandbox({ source: '/nowhere' }))
})

test('a stopped service has ended', async () => {
  const other = await startSandbox()
  assert.notEqual(other.url, sandbox.url)
  await other.createOwner()
  assert.match(other.log(), /auth\/register status=201/)
  await other[Symbol.asyncDispose]()
  await assert.rejects(fetch(`${other.url}/healthz`))
})
