// Users choose names: names with tags, escape sequences and hundreds of letters are shown
// unchanged, and no page becomes wider than its window or unreasonably high.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, hasBrowser, register, settled, signIn, startBrowser, startService, visit } from './world.mjs'

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

const tagged = '<0>Evil</0> <b>bold</b> \\u0041 {name}'
const long = 'W'.repeat(250)
const admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }

/** Fails if a page is wider than its window or too high for its content. */
async function fits(page, path, high = page.viewportSize().width < 700 ? 8000 : 4000) {
  await page.goto(path)
  await settled(page)
  const { wide, window, height, culprit } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth, window: innerWidth, height: document.documentElement.scrollHeight,
    culprit: [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(one).position !== 'fixed').slice(0, 4)
      .map((one) => `${one.tagName}.${one.className}`).join(' '),
  }))
  return [
    ...(wide > window ? [`${path} is ${wide} px wide in a window of ${window}: ${culprit}`] : []),
    ...(height > high ? [`${path} is ${height} px high in a window of ${window}`] : []),
  ]
}

test('a name with tags is shown as it is', { skip }, async (t) => {
  const owner = await register(service.base, 'Tag Owner', 'tag@names.test', tagged)
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/settings')
  await page.getByRole('button', { name: /Delete/ }).last().click()
  await page.getByRole('dialog').getByText(tagged).first().waitFor()
  const { accessToken } = await call(service.base, 'POST', '/api/v1/auth/login', admin)
  assert.ok(accessToken)
  const platform = await visit(t, browser, service.base)
  await signIn(platform, admin)
  await platform.goto(`/platform/tenants/${owner.tenant}`)
  await platform.getByRole('button', { name: 'Edit billing details' }).click()
  await platform.getByRole('dialog').getByText(tagged).first().waitFor()
})

for (const width of [1280, 390]) {
  test(`long names leave every page in its window of ${width} px`, { skip }, async (t) => {
    const owner = await register(service.base, long, `long${width}@names.test`, long)
    await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/roles`, { name: long, permissions: ['team.invite'] }, owner.token)
    await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/team/invitations`, { email: `${'invited-person-'.repeat(4)}${width}@a-company-with-a-long-name.test`, role: 'member' }, owner.token)
    const { accessToken } = await call(service.base, 'POST', '/api/v1/auth/login', admin)
    const plans = await call(service.base, 'GET', '/api/v1/admin/plans?per_page=100', undefined, accessToken)
    const starter = plans.data.find((one) => one.slug === 'starter')
    await call(service.base, 'PATCH', `/api/v1/admin/plans/${starter.id}`, { name: { en: long } }, accessToken)
    const page = await visit(t, browser, service.base, { width })
    await signIn(page, owner)
    const found = []
    for (const path of ['/', '/plan', '/invoices', '/team', '/team/roles', '/developers', '/developers/requests', '/activity', '/settings', '/settings/sign-in', '/profile', '/profile/security']) found.push(...await fits(page, path))
    const platform = await visit(t, browser, service.base, { width })
    await signIn(platform, admin)
    for (const path of ['/platform', '/platform/tenants', '/platform/invoices', '/platform/subscriptions', '/platform/people', `/platform/tenants/${owner.tenant}/subscription`, `/platform/tenants/${owner.tenant}`, `/platform/tenants/${owner.tenant}/invoices`, '/platform/catalog', '/platform/catalog/codes', `/platform/catalog/plans/${starter.id}`, '/platform/analytics', '/platform/activity', '/platform/developers/deliveries', '/platform/developers/requests', '/platform/settings/admins', '/pricing']) {
      found.push(...await fits(platform, path))
    }
    await platform.goto(`/platform/tenants/${owner.tenant}/usage`)
    const crumb = await platform.locator('.crumbs a', { hasText: long }).boundingBox()
    assert.ok(crumb.width > 70, `the parent in the breadcrumbs is ${crumb.width} px wide`)
    assert.deepEqual(found, [])
  })
}
