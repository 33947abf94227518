// Help and settings: the guide of each page, the keyboard shortcuts, the language of an
// organization, and the settings of the service.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, check, hasBrowser, pressKeys, register, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

const skip = !hasBrowser()
const admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService({ TENANTRY_APP_NAME: 'Acme Cloud', TENANTRY_ACCENT: '#7a1fa2' }), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

test('each page leads to its guide, and its shortcuts work', { skip }, async (t) => {
  const owner = await register(service.base, 'Hal Help', 'hal@help.test', 'Help', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  const guide = page.getByRole('link', { name: 'How this works' })
  for (const [key, path, heading] of [['p', '/plan', 'change-of-plan'], ['t', '/team', 'invite-a-member'], ['l', '/activity', 'time-lines'], ['h', '/', 'plans-and-subscriptions']]) {
    await pressKeys(page, ['g', key], path)
    await page.waitForFunction((id) => document.querySelector('.guide')?.href.endsWith(`#${id}`), heading)
    const target = await guide.getAttribute('href')
    assert.match(await fetch(new URL(target, service.base)).then((answer) => answer.text()), new RegExp(`id="${heading}"`))
  }
  await page.keyboard.press('?')
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await list.getByText('Team').waitFor()
  assert.equal(await list.getByText('Search this list').count(), 0)
  await check(page, 'the shortcuts of a tenant')
})

for (const words of [{ locale: 'en-GB', width: 1280, theme: 'light', field: 'Language of emails and documents', save: 'Save language' }, { locale: 'it-IT', width: 390, theme: 'dark', field: 'Lingua delle e-mail e dei documenti', save: 'Salva lingua' }]) {
  test(`an organization chooses its language, in ${words.locale} at ${words.width} px`, { skip }, async (t) => {
    const owner = await register(service.base, 'Lin Language', `lin${words.width}@help.test`, 'Languages')
    await call(service.base, 'PATCH', '/api/v1/tenant', { settings: { color: 'red' } }, owner.token)
    const page = await visit(t, browser, service.base, words)
    await signIn(page, owner)
    await page.goto('/settings')
    await page.getByLabel(words.field).selectOption('fr')
    await check(page, 'the settings of an organization')
    await page.getByRole('button', { name: words.save }).click()
    await page.locator('.toast').waitFor()
    const settings = async () => (await call(service.base, 'GET', '/api/v1/tenant', undefined, owner.token)).data.settings
    assert.deepEqual(await settings(), { color: 'red', locale: 'fr' })
    await page.getByLabel(words.field).selectOption('')
    await page.getByRole('button', { name: words.save }).click()
    await waitFor(async () => !('locale' in await settings()), 'settings without a language')
    assert.deepEqual(await settings(), { color: 'red' })
    assert.equal(await page.getByLabel(words.field).inputValue(), '')
  })
}

test('admins see the settings with their sources, and the brand', { skip }, async (t) => {
  const page = await visit(t, browser, service.base)
  await signIn(page, admin)
  await page.goto('/platform/settings?show=set')
  const row = page.locator('dl.settings > div', { hasText: 'Product name in emails' })
  await row.getByText('Environment variable').waitFor()
  await row.getByText('How to change').click()
  await row.getByText('TENANTRY_APP_NAME').waitFor()
  await row.getByText('--app-name').waitFor()
  const mail = page.getByRole('img', { name: /^Sample email: .*Acme Cloud/ })
  await mail.waitFor()
  assert.equal(await mail.evaluate((picture) => picture.decode().then(() => picture.naturalWidth)), 600)
  await check(page, 'the settings of the service')
  await page.goto('/platform/settings?search=smtp')
  await page.getByText('No settings match these filters').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.locator('dl.settings > div', { hasText: 'Lifetime of access tokens' }).getByText('Default value').waitFor()
})
