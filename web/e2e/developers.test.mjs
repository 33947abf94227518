// The request log of a tenant and of the platform, and the list of platform admins.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, check, hasBrowser, register, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

const skip = !hasBrowser()
const admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

test('requests with a key are listed with the reason of a refusal', { skip }, async (t) => {
  const owner = await register(service.base, 'Rita Requests', 'rita@requests.test', 'Requests Ltd')
  const { data: key } = await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/api-keys`, { name: 'Nightly import', scopes: ['usage.read'] }, owner.token)
  const ask = (path) => fetch(`${service.base}/api/v1/tenant/${owner.tenant}${path}`, { headers: { Authorization: `Bearer ${key.secret}` } }).then(({ status }) => status)
  assert.equal(await ask('/usage/quotas'), 200)
  assert.equal(await ask('/team/members'), 403)
  // Requests appear up to five seconds late.
  await waitFor(async () => {
    const logged = JSON.stringify(await call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/request-logs`, undefined, owner.token))
    return ['/usage/quotas', '/team/members'].every((path) => logged.includes(path))
  }, 'the requests in the log')
  for (const look of [{ width: 1280 }, { width: 390, theme: 'dark', locale: 'es-ES' }]) {
    const page = await visit(t, browser, service.base, look)
    await signIn(page, owner)
    await page.goto('/developers/requests')
    await page.getByText('insufficient_scope').first().waitFor()
    await page.getByText('Nightly import').first().waitFor()
    await check(page, `the request log of a tenant at ${look.width} px`)
    if (look.width < 700) continue
    assert.equal(await page.getByRole('row', { name: /usage\/quotas/ }).count(), 1)
    await page.getByRole('group', { name: 'Status' }).getByRole('link', { name: 'Refused' }).click()
    await page.getByRole('row', { name: /usage\/quotas/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /team\/members/ }).getByText('403').waitFor()
    await page.getByLabel('Method').selectOption('DELETE')
    await page.getByRole('heading', { name: 'No requests match these filters' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('row', { name: /usage\/quotas/ }).waitFor()
  }
  const desk = await visit(t, browser, service.base)
  await signIn(desk, admin)
  await desk.goto('/platform/developers/requests')
  await desk.getByRole('row', { name: /insufficient_scope/ }).getByRole('link', { name: 'Requests Ltd' }).first().waitFor()
  await check(desk, 'the request log of the platform')
})

test('platform admins are listed with what they may do, and see only that', { skip }, async (t) => {
  const reader = { email: 'reader@admins.test', password: 'correct-horse' }
  service.command(['admin', 'create', '--name', 'Rae Reader', '--email', reader.email], { TENANTRY_ADMIN_PASSWORD: reader.password })
  service.command(['admin', 'grant', '--email', reader.email, '--permissions', 'tenants.view'])
  const page = await visit(t, browser, service.base, { expect: ['403 *'] })
  await signIn(page, reader)
  const navigation = page.getByRole('navigation', { name: 'Tenantry' })
  await navigation.getByRole('link', { name: 'Analytics' }).waitFor()
  for (const name of ['Catalog', 'Activity', 'Developers']) assert.equal(await navigation.getByRole('link', { name }).count(), 0, name)
  await navigation.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Platform admins' }).click()
  const row = page.getByRole('row', { name: /Rae Reader/ })
  await row.getByText('You', { exact: true }).waitFor()
  await row.getByText('1 permission').click()
  await row.getByText('tenants.view').waitFor()
  await page.getByText('tenantry admin grant').waitFor()
  await check(page, 'the platform admins')
  await page.goto('/platform/developers/deliveries')
  await page.getByRole('heading', { name: 'You don’t have access to this page' }).waitFor()
  await page.getByText('Ask an operator for the permission “webhooks.manage”.').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await check(page, 'the keyboard shortcuts')
})
