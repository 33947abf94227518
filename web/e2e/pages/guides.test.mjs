// The guides at /docs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { check, hasBrowser, startBrowser, startService, visit } from '../world.mjs'

const skip = !hasBrowser()
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

const pages = ['', 'install', 'quick-start', 'comparison', 'data-protection', 'concepts', 'metering', 'frontend', 'operations', 'errors', 'rules', 'rules/team', 'adr/0012-speed', 'changelog', 'contents', 'api', 'api/usage/record-usage', 'api/events/invoice.paid', 'api/usage/record-usages']

const some = ['', 'concepts', 'metering', 'api/usage/record-usage', 'api/catalog-administration/admin-create-plan', 'api/events/invoice.paid', 'api/usage/record-usages']
const looks = [
  { width: 1280, theme: 'light', names: pages },
  { width: 390, theme: 'dark', names: pages },
  { width: 1280, theme: 'dark', names: some },
  { width: 320, theme: 'light', names: some },
]
for (const { width, theme, names } of looks) {
  test(`guides pass axe and fit at ${width} px, ${theme}`, { skip }, async (t) => {
    const page = await visit(t, browser, service.base, { width, theme, expect: ['404 /docs/api/usage/record-usages'] })
    for (const name of names) {
      await page.goto(`/docs/${name}`)
      await check(page, `/docs/${name} at ${width} px, ${theme}`)
    }
  })
}

test('a reader finds a section by the keyboard', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.goto('/docs/rules/team')
  await page.keyboard.press('/')
  const field = page.getByRole('combobox', { name: 'Search the documentation' })
  assert.equal(await field.evaluate((element) => element === document.activeElement), true)
  await field.fill('verifying pyth')
  await page.getByRole('option', { name: 'Verifying in Python' }).waitFor()
  await check(page, 'the search with results')
  const options = page.getByRole('option')
  assert.equal(await options.first().getAttribute('aria-selected'), 'true')
  assert.match(await options.first().textContent(), /Build › Webhooks/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/webhooks#verifying-in-python')

  await page.keyboard.press('Control+k')
  await field.fill('xylophone quagga')
  await page.getByText('Nothing was found').waitFor()
  await field.fill('backup')
  await options.nth(1).waitFor()
  await page.keyboard.press('ArrowDown')
  assert.equal(await options.nth(1).getAttribute('aria-selected'), 'true')
  assert.equal(await field.getAttribute('aria-activedescendant'), await options.nth(1).getAttribute('id'))
  await page.keyboard.press('Escape')
  assert.equal(await field.isVisible(), false)
})

// The words that readers use, and the page or section that has to be among the first three results.
const synonyms = {
  '2FA': 'Second factors', mfa: 'Second factors', 'two-factor': 'Second factors', totp: 'authenticator', passwordless: 'Passkeys',
  SSO: 'Single sign-on', OIDC: 'Single sign-on', SAML: 'SAML', okta: 'Connect an issuer', scim: 'Roadmap', rbac: 'Roles and permissions', jwt: 'Verify tokens',
  GDPR: 'Data protection', privacy: 'Data protection', 'right to be forgotten': 'Deletion', 'sub-processor': 'Sub-processors', 'SOC 2': 'Certificates',
  coupon: 'Promotion codes', coupons: 'Promotion codes', voucher: 'Promotion codes', tiered: 'Pricing models', 'volume pricing': 'Pricing models',
  seats: 'Price per seat', 'per user': 'Price per seat', metered: 'Metering', 'pay as you go': 'Base price plus usage', 'top-up': 'Prepaid units', 'free tier': 'Free plan',
  refund: 'Credit and refund an invoice', chargeback: 'Connect Stripe', dunning: 'Failed payments', VAT: 'VAT numbers', 'sales tax': 'Tax', zugferd: 'Invoices',
  webhook: 'Webhooks', webhooks: 'Webhooks', callback: 'Webhooks', mrr: 'Revenue analytics', docker: 'In a container', k8s: 'On Kubernetes with Helm', download: 'Install',
  lts: 'Supported versions', paypal: 'Roadmap', restor: 'Restore', docke: 'In a container',
}
test('a reader finds pages by words that they do not use', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.goto('/docs/')
  await page.keyboard.press('/')
  const field = page.getByRole('combobox', { name: 'Search the documentation' })
  const options = page.getByRole('option')
  const missed = []
  for (const [query, want] of Object.entries(synonyms)) {
    await field.fill('xylophone quagga')
    await page.getByText('Nothing was found').waitFor()
    await field.fill(query)
    await page.getByText(/results?$/).waitFor()
    const first = (await options.allTextContents()).slice(0, 3)
    if (!first.some((text) => text.includes(want))) missed.push([query, want, first.map((text) => text.slice(0, 60))])
  }
  assert.deepEqual(missed, [])
})

// Names and addresses of the API, and the first result. The reference comes first within its own pages.
const named = {
  '/tenant/{tenantId}/usage': 'Summarize current usage', 'POST /tenant/{tenantId}/usage': 'Record a usage event',
  'post /api/v1/tenant/{tenantId}/usage': 'Record a usage event', '/tenant/:id/usage': 'Summarize current usage',
  recordUsage: 'Record a usage event', recordusage: 'Record a usage event', QUOTA_EXCEEDED: 'QUOTA_EXCEEDED',
}
test('a reader finds operations and errors by their names', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  const field = page.getByRole('combobox', { name: 'Search the documentation' })
  const first = async (query) => {
    await field.fill('xylophone quagga')
    await page.getByText('Nothing was found').waitFor()
    await field.fill(query)
    await page.getByText(/results?$/).waitFor()
    return page.getByRole('option').first().textContent()
  }
  for (const address of ['/docs/', '/docs/api']) {
    await page.goto(address)
    await page.keyboard.press('/')
    for (const [query, want] of Object.entries(named)) assert.ok((await first(query)).includes(want), `${query} at ${address}`)
  }
  assert.match(await first('webhook'), /^API reference/)
})

test('a reader copies a command, changes the theme and keeps it', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/docs/metering')
  const code = page.locator('.code').first()
  await code.getByRole('button', { name: 'Copy this code' }).click()
  await code.getByText('Copied').waitFor()
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^tenantry api-key create --name backend/)
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.getByRole('button', { name: 'Switch between light and dark' }).click()
  const dark = await ground()
  assert.notEqual(dark, light)
  await page.goto('/docs/webhooks')
  assert.equal(await ground(), dark)
})

test('a reader with a phone opens the navigation and closes it', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, { width: 390 })
  await page.goto('/docs/webhooks')
  const menu = page.getByRole('button', { name: 'Menu' })
  const nav = page.getByRole('navigation', { name: 'Guides' })
  assert.equal(await nav.isVisible(), false)
  await menu.click()
  await check(page, 'the open navigation')
  assert.equal(await nav.evaluate((element) => element.getBoundingClientRect().top), 56)
  const last = nav.getByRole('link', { name: 'All pages' })
  await last.scrollIntoViewIfNeeded()
  assert.ok((await last.boundingBox()).y < 844, 'the last entry can be reached')
  await page.keyboard.press('Escape')
  assert.equal(await nav.isVisible(), false)
  await menu.click()
  await nav.getByRole('link', { name: 'Metering' }).click()
  await page.waitForURL('**/docs/metering')
  assert.equal(await nav.isVisible(), false)
})

test('without a script everything is there but the search', { skip }, async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 }, baseURL: service.base })
  t.after(() => context.close())
  const page = await context.newPage()
  await page.goto('/docs/webhooks')
  assert.equal(await page.getByRole('button').count(), 0)
  await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'All pages' }).click()
  await page.getByRole('link', { name: 'Verifying in Python' }).click()
  await page.waitForURL('**/docs/webhooks#verifying-in-python')
})

test('a reader finds an operation and its field, and reads the sample in another language', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.goto('/docs/')
  await page.getByRole('link', { name: 'API reference' }).first().click()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('record a usage')
  await page.getByRole('option', { name: 'Record a usage event' }).first().click()
  await page.waitForURL('**/docs/api/usage/record-usage')
  const tabs = page.getByRole('tablist', { name: 'Request' })
  await tabs.getByRole('tab', { name: 'curl' }).press('ArrowRight')
  await page.getByRole('tabpanel', { name: 'TypeScript' }).getByText('createClient').first().waitFor()
  await tabs.getByRole('tab', { name: 'Go' }).click()
  await page.reload()
  await page.getByRole('tabpanel', { name: 'Go' }).getByText('RecordUsage').waitFor()
  await page.goto('/docs/api/usage/record-usage#idempotency_key')
  await page.locator('#idempotency_key:target').waitFor()
  await check(page, 'an operation with a chosen field')
})

test('without a script an operation shows all its samples', { skip }, async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 844 }, baseURL: service.base })
  t.after(() => context.close())
  const page = await context.newPage()
  await page.goto('/docs/api#recordUsage')
  await page.getByRole('main').getByRole('link', { name: 'Record a usage event' }).click()
  await page.waitForURL('**/docs/api/usage/record-usage')
  for (const language of ['curl', 'TypeScript', 'Go']) assert.ok(await page.getByRole('heading', { name: language, exact: true }).isVisible(), language)
})

test('a reader sees the errors of an operation as responses', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.goto('/docs/api/usage/record-usage')
  const tabs = page.getByRole('tablist', { name: 'Response' })
  assert.deepEqual(await tabs.getByRole('tab').allTextContents(), ['201', '403', '404', '409', '422', '429'])
  await tabs.getByRole('tab', { name: '201' }).press('ArrowLeft')
  const limited = page.getByRole('tabpanel', { name: '429' })
  await limited.getByText('"QUOTA_EXCEEDED"').waitFor()
  await limited.getByText('"current_usage"').waitFor()
  await check(page, 'the response of a rejected event')
  await tabs.getByRole('tab', { name: '403' }).click()
  await page.getByRole('tabpanel', { name: '403' }).getByRole('link', { name: 'SSO_REQUIRED' }).click()
  await page.locator('#SSO_REQUIRED:target').waitFor()
})

test('a reader with a wrong address finds the operation', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, { expect: ['404 /docs/api/usage/recordUsages'] })
  const response = await page.goto('/docs/api/usage/recordUsages')
  assert.equal(response.status(), 404)
  await page.getByText('Did you mean').waitFor()
  await page.getByRole('link', { name: 'Record a usage event' }).click()
  await page.waitForURL('**/docs/api/usage/record-usage')
})

test('a reader finds a webhook event and how to verify it', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.goto('/docs/api')
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search the documentation' }).fill('invoice.paid')
  await page.getByRole('option', { name: 'Webhook events' }).first().click()
  await page.waitForURL('**/docs/api/events/invoice.paid')
  await page.getByText('"invoice.paid"').first().waitFor()
  await page.getByRole('link', { name: 'Python' }).click()
  await page.waitForURL('**/docs/webhooks#verifying-in-python')
})

test('a reader copies the address of a heading and of a field', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, {})
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  for (const [at, hash] of [['webhooks', 'a-message'], ['api/usage/record-usage', 'idempotency_key']]) {
    await page.goto(`/docs/${at}`)
    const anchor = page.locator(`a.anchor[href="#${hash}"]`)
    await anchor.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'Link copied' }).waitFor()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${service.base}/docs/${at}#${hash}`)
    assert.equal(new URL(page.url()).hash, `#${hash}`)
  }
})
