// Amounts: decimals, currencies, credit, debits in progress and former customers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advance, call, check, hasBrowser, register, signIn, startBrowser, startService, subscribe, visit, waitFor } from './world.mjs'

const skip = !hasBrowser()
let service, browser, admin

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  admin = (await call(service.base, 'POST', '/api/v1/auth/login', { email: 'admin@tenantry.test', password: 'sandbox-admin' })).accessToken
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

const subscriptionOf = (owner) => call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/subscription`, undefined, owner.token).then(({ data }) => data)

/** Creates a flat monthly plan with prices in minor units by currency. */
async function makePlan(name, slug, prices) {
  const product = (await call(service.base, 'GET', '/api/v1/admin/products', undefined, admin)).data[0].id
  const { data: plan } = await call(service.base, 'POST', '/api/v1/admin/plans', { product_id: product, name: { en: name }, slug, pricing_type: 'flat', billing_cycle: 'monthly' }, admin)
  await call(service.base, 'PATCH', `/api/v1/admin/plans/${plan.id}`, { prices: Object.entries(prices).map(([currency, price_cents]) => ({ currency, price_cents })) }, admin)
}

test('amounts have the decimals of the service, not those of the browser', { skip }, async (t) => {
  // Browsers use no decimals for these currencies; ISO 4217, the service and the provider use two.
  const prices = { HUF: 499_000, IDR: 15_000_000 }
  await call(service.base, 'POST', '/api/v1/admin/currencies/bulk', { codes: Object.keys(prices) }, admin)
  await makePlan('Forint', 'forint', prices)
  const owner = await register(service.base, 'Huba Huf', 'huba@amounts.test', 'Huf')
  await subscribe(service.base, owner.token, owner.tenant, { slug: 'forint', currency: 'HUF' })
  const page = await visit(t, browser, service.base, { locale: 'en-US' })
  await page.goto('/pricing?currency=IDR')
  await page.getByText('150,000', { exact: false }).first().waitFor()
  assert.equal(await page.getByText('15,000,000').count(), 0)
  await signIn(page, owner)
  await page.getByRole('heading', { name: /4,990\.00/ }).waitFor()
  await page.goto('/invoices')
  await page.getByRole('cell', { name: /4,990\.00/ }).first().waitFor()
})

test('a small revenue at a glance keeps its decimals', { skip }, async (t) => {
  await call(service.base, 'POST', '/api/v1/admin/currencies/bulk', { codes: ['KWD'] }, admin)
  await makePlan('Dinar', 'dinar', { KWD: 9500 })
  const owner = await register(service.base, 'Kawthar Kwd', 'kawthar@amounts.test', 'Dinar')
  await subscribe(service.base, owner.token, owner.tenant, { slug: 'dinar', currency: 'KWD' })
  const page = await visit(t, browser, service.base)
  await signIn(page, { email: 'admin@tenantry.test', password: 'sandbox-admin' })
  await page.goto('/platform')
  await page.locator('.six').getByText(/KWD\s9\.500/).first().waitFor()
  assert.equal(await page.getByText(/KWD\s10\b/).count(), 0)
})

test('quantities are shown with all their decimals', { skip }, async (t) => {
  const owner = await register(service.base, 'Quinn Quantity', 'quinn@amounts.test', 'Quantity', { slug: 'starter' })
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/usage`, { meter_code: 'api-calls', quantity: 999.9996 }, owner.token)
  for (const [locale, figure] of [['en-GB', '999.9996 of 1,000'], ['fr-FR', /^999,9996 sur 1\s000$/]]) {
    const page = await visit(t, browser, service.base, { locale })
    await signIn(page, owner)
    await page.locator('.fig').getByText(figure, { exact: true }).waitFor()
    assert.equal(await page.getByText(/1,000 of 1,000/).count(), 0)
  }
})

test('plans show in the currency in which most are sold, and the others are offered', { skip }, async (t) => {
  await call(service.base, 'POST', '/api/v1/admin/currencies/bulk', { codes: ['GBP'] }, admin)
  await makePlan('Sterling', 'sterling', { GBP: 900, EUR: 1000 })
  const page = await visit(t, browser, service.base, { locale: 'en-GB' })
  await page.goto('/onboarding')
  assert.equal(await page.getByLabel('Currency').inputValue(), 'EUR')
  await page.getByLabel('Currency').selectOption('GBP')
  await page.getByText('£9').waitFor()
  await page.getByText('Not available in GBP').first().waitFor()
  await check(page, 'plans without a price')
  await page.getByRole('button', { name: 'Show in USD' }).first().click()
  await page.waitForURL(/currency=USD/)
})

test('credit pays the next invoice: the home page, the plan page and the invoices say so', { skip }, async (t) => {
  await makePlan('Grand', 'grand', { EUR: 20_000 })
  let owner = await register(service.base, 'Cleo Credit', 'cleo@amounts.test', 'Credit', { slug: 'grand' })
  const starter = (await call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/plans`, undefined, owner.token)).data.find((one) => one.slug === 'starter')
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/subscription/change-plan`, { new_plan_id: starter.id }, owner.token)
  await waitFor(async () => (await subscriptionOf(owner)).plan.name === 'Starter')
  const page = await visit(t, browser, service.base, { width: 390, theme: 'dark' })
  await signIn(page, owner)
  await page.getByRole('heading', { name: /Starter.*nothing to pay on/ }).waitFor()
  await page.getByText(/The invoice of €19\.00 is paid from your balance of €18/).waitFor()
  await check(page, 'a home page with credit')
  await page.goto('/plan')
  await page.locator('.receipt', { hasText: 'From your balance' }).waitFor()
  await page.getByRole('heading', { name: 'Balance' }).waitFor()
  await page.getByText(/Credited by invoice/).waitFor()
  await check(page, 'a balance')
  await page.goto('/invoices')
  await page.getByRole('row', { name: /Credited/ }).waitFor()

  await advance(service.base, `${32 * 24}h`)
  owner = { ...owner, token: (await call(service.base, 'POST', '/api/v1/auth/login', { email: owner.email, password: owner.password })).accessToken }
  await waitFor(async () => (await call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/invoices`, undefined, owner.token)).data.some((one) => one.balance_applied.amount_cents === 1900))
  await signIn(page, owner)
  await page.goto('/invoices')
  await page.getByRole('row', { name: /Paid from balance/ }).waitFor()
})

test('a debit in progress is not due', { skip }, async (t) => {
  const owner = await register(service.base, 'Dora Debit', 'dora@amounts.test', 'Debit', { slug: 'starter', iban: 'DE89370400440532013000' })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.getByRole('heading', { name: /Starter.*€19\.00 on/ }).waitFor()
  await page.getByText(/Payment of €19\.00 for .* is in progress/).waitFor()
  await page.goto('/invoices')
  await page.getByRole('row', { name: /Payment in progress/ }).waitFor()
})

test('a former customer is not greeted as a new one, and gets no second trial', { skip }, async (t) => {
  const owner = await register(service.base, 'Fay Former', 'fay@amounts.test', 'Former', { slug: 'team', seats: 1 })
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/subscription/cancel`, { immediately: true }, owner.token)
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.getByRole('heading', { name: 'Former has no plan at the moment' }).waitFor()
  assert.equal(await page.getByText('Get started').count(), 0)
  await page.goto('/plan')
  await page.getByRole('radio', { name: /^Team/ }).check()
  await page.getByRole('button', { name: 'Continue to payment — €12.00' }).waitFor()
  assert.equal(await page.getByText(/free trial/).count(), 0)
})

test('paid, used and free seats are named, and their number can be changed', { skip }, async (t) => {
  const owner = await register(service.base, 'Sara Seats', 'sara@amounts.test', 'Seats', { slug: 'team', seats: 4 })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.getByText('Seats used: 1 of 4').or(page.getByText('free until')).first().waitFor()
  await page.goto('/team')
  await page.getByText('Paid seats: 4, used: 1, free: 3.').waitFor()
  await page.getByRole('link', { name: 'Change seats' }).click()
  await page.getByRole('button', { name: 'Remove a seat' }).click()
  await page.getByRole('button', { name: /^Remove 1 seat/ }).waitFor()
})

test('prices stay on one line next to many plans', { skip }, async (t) => {
  // The session of the tests before is over, because they advance the clock.
  admin = (await call(service.base, 'POST', '/api/v1/auth/login', { email: 'admin@tenantry.test', password: 'sandbox-admin' })).accessToken
  for (const [i, price] of [4900, 199_900, 1_249_950, 12_499_900].entries()) await makePlan(`Large ${i}`, `large-${i}`, { EUR: price })
  const owner = await register(service.base, 'Mara Many', 'mara@amounts.test', 'Many', { slug: 'starter' })
  for (const width of [1280, 800]) {
    const page = await visit(t, browser, service.base, { locale: 'it-IT', width })
    await signIn(page, owner)
    await page.goto('/plan')
    await page.getByText(/124\.999,00\s€/).first().waitFor()
    await page.evaluate(() => document.fonts.ready)
    const broken = await page.locator('.plan-p b').evaluateAll((prices) => prices.filter((one) => {
      const range = document.createRange()
      range.selectNodeContents(one)
      return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1 || range.getBoundingClientRect().right > one.closest('.plan').getBoundingClientRect().right
    }).map((one) => one.textContent))
    assert.deepEqual(broken, [], `at ${width} px`)
    if (width === 1280) await check(page, 'many plans')
  }
})
