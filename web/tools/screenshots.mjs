// Takes the screenshots of the README, on demo data of about a year.
import path from 'node:path'
import { advance, call, joins, register, signIn, startBrowser, startService, subscribe } from '../e2e/world.mjs'

const admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }
const acme = { email: 'owner@acme.test', password: 'sandbox-owner' }
const images = path.resolve(import.meta.dirname, '../../docs/images')
// The months in which customers sign up, with their plans. Fabrik's card stops working.
const customers = [
  [['Nordlicht', 'starter']],
  [['Harbour', 'team', 3]],
  [],
  [['Olivar', 'starter'], ['Lumen', 'team', 5]],
  [['Brio', 'starter']],
  [],
  [['Atelier', 'team', 4], ['Kestrel', 'starter']],
  [['Marea', 'team', 2], ['Fabrik', 'starter', 1, '4000000000000341']],
  [['Tandem', 'team', 6]],
]

const [service, browser] = await Promise.all([startService({ TENANTRY_SUPPORT_EMAIL: 'help@tenantry.test' }), startBrowser()])
const { base } = service
const tokenOf = async ({ email, password }) => (await call(base, 'POST', '/api/v1/auth/login', { email, password })).accessToken

const tenantOf = async (token) => (await call(base, 'GET', '/api/v1/auth/me', undefined, token)).currentTenant.id

/** Records a day's calls of Acme, which use about two thirds of its limit in half a period. */
async function record(calls) {
  const token = await tokenOf(acme)
  await call(base, 'POST', `/api/v1/tenant/${await tenantOf(token)}/usage`, { meter_code: 'api-calls', quantity: calls }, token)
}

/** Takes a screenshot of an account's home page, when the part of the page that is loaded last is shown. */
async function shoot(account, last, name) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, deviceScaleFactor: 1, locale: 'en-GB', colorScheme: 'light', baseURL: base })
  const page = await context.newPage()
  await signIn(page, account)
  // The font is loaded after the first view (src/ui/later.ts).
  await page.waitForFunction(() => localStorage.getItem('font') === 'loaded')
  await page.locator(last).waitFor()
  await page.waitForLoadState('networkidle')
  await page.mouse.move(1279, 899)
  await page.screenshot({ path: path.join(images, name), animations: 'disabled' })
  await context.close()
}

try {
  for (const month of customers) {
    for (const [name, slug, seats, card] of month) {
      await register(base, `${name} Owner`, `owner@${name.toLowerCase()}.test`, name, { slug, seats, card })
    }
    await advance(base, '720h')
  }
  const owner = { token: await tokenOf(acme), ...acme }
  owner.tenant = await tenantOf(owner.token)
  const { data: subscription } = await call(base, 'GET', `/api/v1/tenant/${owner.tenant}/subscription`, undefined, owner.token)
  if (!subscription) await subscribe(base, owner.token, owner.tenant, { slug: 'starter' })
  else {
    const { data: { now } } = await call(base, 'GET', '/sandbox/clock')
    const days = Math.ceil((new Date(subscription.current_period_end) - new Date(now)) / 86_400_000)
    if (days > 0) await advance(base, `${days * 24}h`)
  }
  for (const [day, calls] of [48, 71, 12, 9, 83, 95, 64, 77, 58, 20, 16, 88, 79].entries()) {
    if (day > 0) await advance(base, '24h')
    await record(calls)
  }
  owner.token = await tokenOf(acme)
  await joins(base, owner, 'Acme Developer', 'developer@acme.test')
  await call(base, 'POST', `/api/v1/tenant/${owner.tenant}/team/invitations`, { email: 'finance@acme.test', role: 'member' }, await tokenOf(acme))
  await call(base, 'POST', '/api/v1/admin/api-keys', { name: 'Product', scopes: ['tenants.read'] }, await tokenOf(admin))
  await shoot(acme, 'svg.chart', 'console.png')
  await shoot(admin, '.six', 'platform.png')
} finally {
  await browser.close()
  await service.stop()
}
