// Helpers for the stories: a service with its sandbox, a browser, and checks.
import { AxeBuilder } from '@axe-core/playwright'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chromium } from 'playwright-core'

const root = path.resolve(import.meta.dirname, '../..')
const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** How long a story waits for anything, in milliseconds. A busy machine can need most of it. */
const patience = 60_000

/** Reports whether there is a browser. Fails if one is required but missing. */
export function hasBrowser() {
  if (existsSync(browserPath)) return true
  if ((process.env.TENANTRY_TEST_REQUIRE ?? '').split(',').includes('chromium')) throw new Error(`there is no ${browserPath}`)
  console.log(`skipped: there is no ${browserPath}`)
  return false
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Starts `tenantry dev` with data of its own. TENANTRY_BIN is a built program; without it one is built. */
export async function startService(settings = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'console-'))
  let program = process.env.TENANTRY_BIN
  if (!program) {
    program = path.join(folder, 'tenantry')
    execFileSync('go', ['build', '-o', program, './cmd/tenantry'], { cwd: root, stdio: 'inherit' })
  }
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const env = { ...process.env, TENANTRY_RATE_LIMITS: 'off', TENANTRY_DEMO_DEFAULT_PLAN: 'none', ...settings }
  const service = spawn(program, ['dev', '--addr', `127.0.0.1:${port}`, '--data', path.join(folder, 'data')], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  service.stdout.on('data', (text) => (log += text))
  service.stderr.on('data', (text) => (log += text))
  for (let i = 0; ; i++) {
    if (await fetch(`${base}/readyz`).then((r) => r.ok, () => false)) break
    if (i > 600 || service.exitCode !== null) throw new Error(`the service did not start:\n${log}`)
    await new Promise((then) => setTimeout(then, 200))
  }
  const ended = new Promise((then) => service.on('exit', then))
  return {
    base,
    log: () => log,
    /** Runs a command on the service's data. */
    command: (args, more = {}) => execFileSync(program, [...args, '--data', path.join(folder, 'data')], { stdio: 'pipe', env: { ...env, ...more } }),
    async stop() {
      service.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function startBrowser() {
  const args = [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ]
  return chromium.launch({ executablePath: browserPath, args })
}

/**
 * Opens a page in a new browser context with a window size, language and theme. At the end of the
 * test the browser's console must contain no error, and no request may have failed, except the
 * requests in expect as `STATUS /path`, an email without SSO, and the messages that match logs. lost also allows requests
 * that fail without a connection.
 */
export async function visit(t, browser, base, { width = 1280, locale = 'en-GB', theme = 'light', expect = [], logs, lost = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: width < 700 ? 844 : 900 }, locale, colorScheme: theme, baseURL: base })
  context.setDefaultTimeout(patience)
  const troubles = []
  const answers = []
  const watch = (page) => {
    count(page)
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource') && !logs?.test(message.text())) troubles.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => troubles.push(`script: ${error}`))
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.startsWith('/api/')) answers.push(`${response.status()} ${response.request().method()} ${pathname}`)
      // After a session has ended, the console gets a new CSRF token and repeats the request.
      const known = ['404 /api/v1/auth/sso', '419 /api/v1/auth/passkey/options', ...expect].some((one) => one === `${response.status()} ${pathname}` || (one.endsWith('*') && `${response.status()} ${pathname}`.startsWith(one.slice(0, -1))))
      if (response.status() >= 400 && !known) troubles.push(`${response.status()} ${response.request().method()} ${pathname}`)
    })
    page.on('requestfailed', (request) => {
      if (lost && request.failure()?.errorText === 'net::ERR_INTERNET_DISCONNECTED') return
      if (request.failure()?.errorText !== 'net::ERR_ABORTED') troubles.push(`${request.failure()?.errorText} ${request.url()}`)
    })
  }
  context.on('page', watch)
  const page = await context.newPage()
  t.after(async () => {
    if (!t.passed) {
      const text = await page.locator('body').innerText({ timeout: 5000 }).catch(String)
      t.diagnostic(`at ${page.url()}; the last answers: ${answers.slice(-8).join(', ')}; the page: ${text.replace(/\s+/g, ' ').slice(0, 600)}`)
    }
    await context.close()
    assert.deepEqual(troubles, [], 'what the browser complained of')
  })
  return page
}

/** Waits for the newest mail to an address whose text matches, and returns the first link in it. */
export async function mailLink(base, to, pattern) {
  return waitFor(async () => {
    const { data } = await (await fetch(`${base}/sandbox/mail/messages`)).json()
    const found = data.find((one) => one.to.includes(to) && pattern.test(one.text))
    return found?.text.match(new RegExp(`${base}[^\\s<>"]*`))?.[0]
  }, `a mail to ${to} with ${pattern}`)
}

/** Calls the API, with a token if given. */
export async function call(base, method, path, body, token) {
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) }
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) })
  const answer = response.status === 204 ? null : await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer
}

/**
 * Advances the clock of the service and its sandbox, for example by '24h'. Waits until the provider
 * has done all due work, and the service has handled its notifications.
 */
export async function advance(base, by) {
  await call(base, 'POST', '/sandbox/clock', { advance: by })
  await waitFor(async () => {
    const { data: { now, coming } } = await call(base, 'GET', '/sandbox/bar')
    return coming.every(({ at }) => at > now)
  }, 'all due work of the provider')
  await notified(base)
}

/** The tokens of the sandbox's admin, by service. */
const admins = new Map()

/** Reads the figures of a service as its admin. Moving the clock expires tokens. */
async function stats(base) {
  const read = () => call(base, 'GET', '/api/v1/admin/stats', undefined, admins.get(base))
  const login = async () => admins.set(base, (await call(base, 'POST', '/api/v1/auth/login', { email: 'admin@tenantry.test', password: 'sandbox-admin' })).accessToken)
  if (!admins.has(base)) await login()
  return (await read().catch(async () => { await login(); return read() })).data
}

/** Waits until the provider has sent all notifications, and the service has handled them. */
export async function notified(base) {
  await waitFor(async () => {
    const { data } = await call(base, 'GET', '/sandbox/stripe/replay')
    return data.pending === 0 && (await stats(base)).health.provider.waiting === 0
  }, 'the end of all notifications')
}

/** Registers an account with an organization through the API. Returns the token and the tenant. */
export async function register(base, name, email, organization, plan) {
  const password = 'correct-horse'
  const login = await call(base, 'POST', '/api/v1/auth/register', {
    name, email, password, password_confirmation: password, create_tenant: true, tenant_name: organization,
  })
  const tenant = login.user.tenants[0].id
  await call(base, 'PATCH', '/api/v1/onboarding/complete-setup', {
    legal_name: organization, address: '1 Test Street', city: 'Vienna', postal_code: '1010', country: 'AT',
  }, login.accessToken)
  if (plan) await subscribe(base, login.accessToken, tenant, plan)
  return { email, password, token: login.accessToken, tenant }
}

/**
 * Buys a plan with a card of the sandbox, or by bank debit if iban is given. Waits until the service
 * has the subscription and its invoice.
 */
export async function subscribe(base, token, tenant, { slug, card = '4242424242424242', iban, seats = 1, currency = 'EUR' }) {
  const plans = await call(base, 'GET', `/api/v1/tenant/${tenant}/plans?currency=${currency}`, undefined, token)
  const plan = plans.data.find((one) => one.slug === slug)
  const { data } = await call(base, 'POST', `/api/v1/tenant/${tenant}/checkout`, {
    plan_id: plan.id, currency, quantity: plan.pricing_type === 'seat' ? seats : undefined, success_url: `${base}/`, cancel_url: `${base}/`,
  }, token)
  await fetch(data.url, { method: 'POST', body: new URLSearchParams(iban ? { iban } : { card_number: card }), redirect: 'manual', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } })
  await waitFor(async () => (await call(base, 'GET', `/api/v1/tenant/${tenant}/subscription`, undefined, token)).data, 'a subscription after the payment')
  await notified(base)
}

/** Invites a user who registers and joins. Returns the account. */
export async function joins(base, owner, name, email, role = 'member') {
  const password = 'correct-horse'
  await call(base, 'POST', `/api/v1/tenant/${owner.tenant}/team/invitations`, { email, role }, owner.token)
  const token = new URL(await mailLink(base, email, /invitations/)).pathname.split('/').pop()
  const login = await call(base, 'POST', '/api/v1/auth/register', { name, email, password, password_confirmation: password, create_tenant: false })
  await call(base, 'POST', `/api/v1/invitations/${token}/accept`, undefined, login.accessToken)
  return { name, email, password, token: login.accessToken, tenant: owner.tenant }
}

/** Signs in to the console. */
export async function signIn(page, { email, password }) {
  await page.goto('/sign-in')
  await enterPassword(page, { email, password })
  await page.waitForURL((url) => url.pathname !== '/sign-in')
}

/** Enters an email and a password on the sign-in page, which asks for them one after the other. */
export async function enterPassword(page, { email, password }) {
  await page.fill('input[name=email]', email)
  await page.press('input[name=email]', 'Enter')
  await page.fill('input[name=password]', password)
  await page.press('input[name=password]', 'Enter')
}

/** The requests of each page that are not complete, and the time at which the last one began or ended. */
const traffic = new WeakMap()

/** Counts the requests of a page. */
function count(page) {
  const state = { open: new Set(), at: Date.now() }
  traffic.set(page, state)
  page.on('request', (request) => {
    // The requests of the document before may never end.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) state.open.clear()
    state.open.add(request)
    state.at = Date.now()
  })
  const end = (request) => {
    state.open.delete(request)
    state.at = Date.now()
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
}

/**
 * Waits until the page is drawn: it has its heading, and half a second without requests.
 * Unlike Playwright's network idle, this also counts the requests after the first idle time.
 */
export async function settled(page) {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  const state = traffic.get(page)
  await waitFor(() => state.open.size === 0 && Date.now() - state.at >= 500, 'the end of all requests')
}

/** Waits until the page is drawn, no menu is open, and no color is in transition, because axe checks contrast. */
async function calm(page) {
  await settled(page)
  await page.getByRole('menu').first().waitFor({ state: 'hidden' })
  await page.evaluate(() => Promise.allSettled(document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity).map((one) => one.finished)))
}

/**
 * Fails on axe violations (including contrast in the other theme), and if the page is wider than
 * its window.
 */
export async function check(page, what) {
  await calm(page)
  const axe = async (where, build = (axe) => axe) => {
    const { violations } = await build(new AxeBuilder({ page })).analyze()
    const found = violations.map((one) => `${one.id}: ${one.help}\n  ${one.nodes.map((node) => node.html).slice(0, 3).join('\n  ')}`)
    assert.deepEqual(found, [], `axe at ${what}${where}`)
  }
  await axe('')
  const theme = await page.evaluate(() => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'))
  await page.emulateMedia({ colorScheme: theme === 'dark' ? 'light' : 'dark' })
  await calm(page)
  await axe(', in the other theme', (axe) => axe.withRules(['color-contrast']))
  await page.emulateMedia({ colorScheme: theme })
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  assert.ok(wide <= window, `${what} is ${wide} px wide in a window of ${window}`)
}

/** Waits until look returns a result, and returns it. The error contains the second argument. */
export async function waitFor(look, what = look) {
  for (const until = Date.now() + patience; ;) {
    const found = await look()
    if (found) return found
    if (Date.now() > until) throw new Error(`not within ${patience / 1000} seconds: ${what}`)
    await new Promise((then) => setTimeout(then, 100))
  }
}

/** Waits until the element of a locator has the focus. */
export async function hasFocus(locator) {
  await waitFor(() => locator.evaluate((element) => element === document.activeElement), `the focus at ${locator}`)
}

/** Presses two keys one after the other until they lead to a path. On a busy machine the pause between them can be too long. */
export async function pressKeys(page, keys, path) {
  await waitFor(async () => {
    for (const key of keys) await page.keyboard.press(key)
    return page.waitForURL((url) => url.pathname === path, { timeout: 2000 }).then(() => true, () => false)
  }, `the keys ${keys} lead to ${path}`)
}
