// Analytics: a fall of the revenue is explained down to the tenant, and a missing rate is added.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advance, call, check, hasBrowser, notified, pressKeys, register, signIn, startBrowser, startService, subscribe, visit } from './world.mjs'

const skip = !hasBrowser()
const admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService({ TENANTRY_BASE_CURRENCY: 'EUR' }), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

const tokenOf = async ({ email, password }) => (await call(service.base, 'POST', '/api/v1/auth/login', { email, password })).accessToken
const analytics = async () => (await call(service.base, 'GET', '/api/v1/admin/analytics', undefined, await tokenOf(admin))).data

test('a plan without customers has no figures', { skip }, async (t) => {
  const page = await visit(t, browser, service.base)
  await signIn(page, admin)
  await page.locator('.six').waitFor()
  await pressKeys(page, ['g', 'a'], '/platform/analytics')
  await page.goto('/platform/analytics?plan=scale')
  await page.getByRole('heading', { name: 'No recurring revenue with these filters' }).waitFor()
  await check(page, 'analytics without revenue')
})

test('a fall of the revenue is explained down to the tenant', { skip }, async (t) => {
  await register(service.base, 'Stella Stays', 'stella@stays.test', 'Stays Ltd', { slug: 'starter' })
  const leaver = await register(service.base, 'Leo Leaves', 'leo@leaves.test', 'Leaves Ltd', { slug: 'starter' })
  await advance(service.base, '840h')
  await call(service.base, 'POST', `/api/v1/tenant/${leaver.tenant}/subscription/cancel`, { immediately: true }, await tokenOf(leaver))
  await notified(service.base)
  const { months, mrr } = await analytics()
  const last = months.at(-1)
  assert.ok(last.churn <= -1900, JSON.stringify(last))
  const page = await visit(t, browser, service.base)
  await signIn(page, admin)
  await page.getByRole('navigation').getByRole('link', { name: 'Analytics' }).click()
  const figure = (name) => page.locator('.tile').filter({ has: page.getByRole('link', { name, exact: true }) })
  await figure('MRR').getByText(`€${mrr % 100 ? (mrr / 100).toFixed(2) : mrr / 100}`, { exact: true }).waitFor()
  await check(page, 'analytics')
  // A definition opens and closes with the keyboard.
  const definition = page.getByRole('button', { name: 'Definition: Customer churn' })
  await definition.focus()
  await page.keyboard.press('Enter')
  await page.locator('.def:popover-open').getByText(/stopped paying in the month/).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.def:popover-open').waitFor({ state: 'detached' })
  // The arrows select a month, and the sum beside the chart follows.
  const chart = page.getByRole('slider', { name: 'Month' })
  await chart.focus()
  await page.keyboard.press('End')
  await page.waitForURL(new RegExp(`month=${last.month}`))
  const sum = page.locator('.sums')
  await sum.getByText(`−€${-last.churn / 100}`).waitFor()
  await sum.getByRole('link', { name: 'Churn' }).click()
  await page.getByRole('heading', { name: /^Churn in / }).waitFor()
  await check(page, 'the tenants behind a month')
  await page.getByRole('row', { name: /Leaves Ltd/ }).getByText('−€19.00').waitFor()
  assert.equal(await page.getByRole('row', { name: /Stays Ltd/ }).count(), 0)
  const csv = await page.request.get(await page.locator('#movements').getByRole('link', { name: 'Export CSV' }).getAttribute('href'))
  assert.equal(csv.status(), 200)
  assert.match(await csv.text(), /Leaves Ltd/)
  await page.getByRole('link', { name: 'Leaves Ltd' }).click()
  await page.waitForURL(new RegExp(`/platform/tenants/${leaver.tenant}`))
  await page.goBack()
  await page.getByRole('heading', { name: /^Churn in / }).waitFor()
  await page.getByRole('button', { name: 'Show as table' }).click()
  await page.getByRole('columnheader', { name: 'MRR at the end' }).waitFor()
  await check(page, 'the movement as a table')
  await page.getByLabel('Plan', { exact: true }).selectOption({ label: 'Starter' })
  await page.waitForURL(/plan=starter/)
  await figure('MRR').waitFor()
  const phone = await visit(t, browser, service.base, { width: 390, theme: 'dark', locale: 'fr-FR' })
  await signIn(phone, admin)
  await phone.goto('/platform/analytics')
  await phone.getByRole('heading', { name: 'Définitions' }).waitFor()
  await check(phone, 'analytics on a phone in French')
})

test('a currency without a rate is named, and counts once the rate is added', { skip }, async (t) => {
  await register(service.base, 'Dana Dollar', 'dana@dollar.test', 'Dollar Inc', { slug: 'starter', currency: 'USD' })
  const before = (await analytics()).mrr
  const page = await visit(t, browser, service.base)
  await signIn(page, admin)
  await page.goto('/platform/analytics')
  await page.getByText(/^No rate for USD\. .* is not included\.$/).waitFor()
  await page.getByRole('note').or(page.locator('.note')).getByRole('button', { name: 'Add exchange rate' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add exchange rate' })
  await dialog.getByLabel('1 EUR in USD').fill('none')
  await dialog.getByRole('button', { name: 'Save rates' }).click()
  await dialog.getByText('Enter a number above 0').waitFor()
  await dialog.getByLabel('1 EUR in USD').fill('1.25')
  await check(page, 'the dialog for a rate')
  await dialog.getByRole('button', { name: 'Save rates' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(/^No rate for USD\. /).waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /^USD/ }).getByText('1.25').waitFor()
  assert.ok((await analytics()).mrr > before)
  await page.getByText('Rates of the last 30 days').click()
  await page.getByRole('button', { name: /^Delete the rates of/ }).click()
  await page.getByText(/^No rate for USD\. /).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText(/^No rate for USD\. /).waitFor({ state: 'detached' })
})
