// The console in difficult situations: offline, with an expired session, with an unfinished form,
// or without a mouse.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, check, hasBrowser, hasFocus, joins, register, settled, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

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

const tenantOf = (owner) => call(service.base, 'GET', '/api/v1/tenant', undefined, owner.token).then(({ data }) => data)
const focused = (page) => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.getAttribute('name'))

const offline = [
  { locale: 'en-GB', width: 1280, theme: 'light', save: 'Save name', says: 'You are offline', why: 'No connection', saved: 'Saved' },
  { locale: 'es-ES', width: 390, theme: 'dark', save: 'Guardar nombre', says: 'No hay conexión', why: 'Sin conexión', saved: 'Guardado' },
]
for (const [i, words] of offline.entries()) {
  test(`a form outlives a lost connection, in ${words.locale} at ${words.width} px`, { skip }, async (t) => {
    const owner = await register(service.base, 'Ole Offline', `ole${i}@manners.test`, 'Before')
    const page = await visit(t, browser, service.base, { ...words, lost: true })
    await signIn(page, owner)
    await page.goto('/settings')
    await page.fill('[name=name]', 'Written offline')
    await page.context().setOffline(true)
    await page.locator('.toast', { hasText: words.says }).waitFor()
    await page.getByRole('button', { name: words.save }).click()
    await page.locator('.note.bad', { hasText: words.why }).waitFor()
    assert.equal(await page.inputValue('[name=name]'), 'Written offline')
    assert.equal((await tenantOf(owner)).name, 'Before')
    await page.context().setOffline(false)
    await page.locator('.toast', { hasText: words.says }).waitFor({ state: 'detached' })
    await check(page, 'back online')
    await page.getByRole('button', { name: words.save }).click()
    await page.locator('.toast', { hasText: words.saved }).waitFor()
    assert.equal((await tenantOf(owner)).name, 'Written offline')
  })
}

const ended = [
  { locale: 'en-GB', width: 1280, theme: 'dark', title: 'Your session has expired', save: 'Save billing details' },
  { locale: 'fr-FR', width: 390, theme: 'light', title: 'Votre session a expiré', save: 'Enregistrer les coordonnées de facturation' },
]
for (const [i, words] of ended.entries()) {
  test(`a form outlives its login, in ${words.locale} at ${words.width} px`, { skip }, async (t) => {
    const owner = await register(service.base, 'Eva Expired', `eva${i}@manners.test`, 'Expired')
    const page = await visit(t, browser, service.base, { ...words, expect: ['401 *'] })
    await signIn(page, owner)
    await page.goto('/settings')
    await page.fill('[name=city]', 'Graz')
    await call(service.base, 'DELETE', '/api/v1/user/sessions', undefined, owner.token)
    // When a user returns to the window, the console loads data again that is not recent. The dialog
    // may already cover the button.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.locator('form:has([name=city]) button[type=submit]').dispatchEvent('click')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(words.title).waitFor()
    await check(page, 'the login has ended')
    await dialog.locator('[name=password]').fill('not-the-right-one')
    await dialog.locator('button[type=submit]').click()
    await dialog.locator('.field:has([name=password]) .error').waitFor()
    await dialog.locator('[name=password]').fill(owner.password)
    await dialog.locator('button[type=submit]').click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.inputValue('[name=city]'), 'Graz')
    await page.locator('form:has([name=city]) button[type=submit]').click()
    const again = await call(service.base, 'POST', '/api/v1/auth/login', { email: owner.email, password: owner.password })
    await waitFor(async () => (await tenantOf({ token: again.accessToken })).city === 'Graz')
  })
}

test('errors stand at their fields, and leaving with changes asks', { skip }, async (t) => {
  const owner = await register(service.base, 'Fia Fields', 'fia@manners.test', 'Fields')
  const page = await visit(t, browser, service.base, { expect: ['422 /api/v1/tenant'] })
  await signIn(page, owner)
  await page.goto('/settings')
  await page.fill('[name=vat_number]', '?')
  await page.fill('[name=billing_email]', 'nobody')
  await page.locator('form:has([name=city]) button[type=submit]').click()
  await page.locator('.field:has([name=billing_email]) .error').waitFor()
  await hasFocus(page.locator('[aria-invalid]').first())
  await check(page, 'errors at fields')
  const questions = []
  page.once('dialog', (dialog) => { questions.push(dialog.message()); void dialog.dismiss() })
  await page.getByRole('navigation').getByRole('link', { name: 'Team' }).click()
  await waitFor(() => questions.length === 1)
  assert.equal(new URL(page.url()).pathname, '/settings')
  assert.equal(await page.inputValue('[name=billing_email]'), 'nobody')
  page.once('dialog', (dialog) => void dialog.accept())
  await page.getByRole('navigation').getByRole('link', { name: 'Team' }).click()
  await page.waitForURL(/\/team$/)
})

test('a save of one form keeps the changes in another', { skip }, async (t) => {
  const owner = await register(service.base, 'Ken Keeps', 'ken@manners.test', 'Before')
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/settings')
  await page.fill('[name=city]', 'Graz')
  await page.fill('[name=name]', '  After  ')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.locator('.toast', { hasText: 'Saved' }).waitFor()
  await waitFor(async () => (await page.inputValue('[name=name]')) === 'After', 'the stored name')
  assert.equal(await page.inputValue('[name=city]'), 'Graz')
  await page.getByRole('button', { name: 'Save billing details' }).click()
  await waitFor(async () => (await tenantOf(owner)).city === 'Graz', 'the city')
})

test('letters that are typed while a search is applied are kept', { skip }, async (t) => {
  const owner = await register(service.base, 'Lea Letters', 'lea@manners.test', 'Letters', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/team?search=lea')
  const field = page.getByRole('searchbox')
  await field.focus()
  await page.keyboard.press('End')
  // The next letter comes when the URL has the letters before it, but the page does not.
  await page.evaluate(() => {
    const write = history.replaceState
    history.replaceState = function (...state) {
      history.replaceState = write
      write.apply(this, state)
      document.execCommand('insertText', false, 't')
    }
  })
  await page.keyboard.type('@le')
  await page.waitForURL(/search=lea%40let/)
  assert.equal(await field.inputValue(), 'lea@let')
})

test('a dialog keeps the focus and gives it back, all with the keyboard', { skip }, async (t) => {
  const owner = await register(service.base, 'Kay Keys', 'kay@manners.test', 'Keyboard', { slug: 'starter' })
  await joins(service.base, owner, 'Ron Removed', 'ron@manners.test')
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/team')
  await page.getByRole('button', { name: 'Invite members' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await waitFor(async () => (await focused(page)) === 'email')
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab')
    assert.ok(await page.evaluate(() => document.activeElement.closest('[role=dialog]') !== null), 'the focus stays in the dialog')
  }
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await waitFor(async () => (await focused(page)) === 'Invite members')

  // After a dialog that a menu opened, the focus returns to the menu's button.
  const more = page.getByRole('button', { name: 'More actions for Ron Removed' })
  await more.focus()
  await page.keyboard.press('Enter')
  await hasFocus(page.getByRole('menuitem', { name: 'Send email' }))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: /Remove Ron Removed/ }).waitFor()
  // Until then, the key belongs to the menu.
  await waitFor(() => page.evaluate(() => document.activeElement.closest('[role=dialog]') !== null), 'the focus in the dialog')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await hasFocus(more)
})

test('every control can be reached with the tab key and shows its focus', { skip }, async (t) => {
  const owner = await register(service.base, 'Tab Tabs', 'tab@manners.test', 'Tabs', { slug: 'starter' })
  for (const look of [{ width: 1280 }, { width: 390, theme: 'dark' }]) {
    const page = await visit(t, browser, service.base, look)
    await signIn(page, owner)
    for (const path of ['/', '/plan', '/invoices', '/team', '/team/roles', '/developers', '/developers/requests', '/settings', '/settings/sign-in', '/profile', '/profile/security']) {
      await page.goto(path)
      await settled(page)
      const reached = new Set()
      const unseen = []
      for (let i = 0; i < 120; i++) {
        await page.keyboard.press('Tab')
        const at = await page.evaluate(() => {
          const one = document.activeElement
          if (!one || one === document.body) return null
          const outline = (element) => element && getComputedStyle(element).outlineStyle !== 'none' && parseFloat(getComputedStyle(element).outlineWidth) > 0
          // The label of a hidden input shows the focus.
          const seen = outline(one) || outline(one.closest('label')) || outline(one.nextElementSibling) || outline(one.parentElement)
          one.dataset.tabbed ??= String(Math.random())
          return { key: one.dataset.tabbed, seen, html: one.outerHTML.slice(0, 120) }
        })
        if (!at) break
        if (reached.has(at.key)) break
        reached.add(at.key)
        if (!at.seen) unseen.push(at.html)
      }
      assert.deepEqual(unseen, [], `focus that is not seen at ${path}`)
      const missed = await page.evaluate(() => {
        const controls = document.querySelectorAll('a[href], button:not([disabled]), input:not([disabled], [type=hidden], [type=radio], [type=file]), select:not([disabled]), textarea:not([disabled])')
        return [...controls].filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.tabIndex >= 0 && !one.dataset.tabbed).map((one) => one.outerHTML.slice(0, 120))
      })
      assert.deepEqual(missed, [], `not reached at ${path}`)
    }
  }
})

test('nothing jumps while a page is read, and nothing moves for who wants no motion', { skip }, async (t) => {
  const owner = await register(service.base, 'Cleo Calm', 'cleo@manners.test', 'Calm', { slug: 'starter' })
  for (const width of [1280, 390]) {
    const page = await visit(t, browser, service.base, { width })
    await page.emulateMedia({ reducedMotion: 'reduce' })
    // The sandbox bar loads later and is not part of the product.
    await page.route('**/sandbox/bar', (route) => route.fulfill({ json: { data: null } }))
    await signIn(page, owner)
    for (const path of ['/', '/plan', '/invoices', '/team', '/developers', '/developers/requests', '/activity', '/settings', '/settings/sign-in', '/profile', '/profile/security']) {
      await page.goto(path)
      await settled(page)
      const shift = await page.evaluate(() => new Promise((done) => {
        let sum = 0
        new PerformanceObserver((list) => list.getEntries().forEach((one) => { if (!one.hadRecentInput) sum += one.value })).observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => done(sum), 100)
      }))
      assert.ok(shift < 0.1, `${path} at ${width} px shifts by ${shift}`)
      const moving = await page.evaluate(() => document.getAnimations().filter((one) => one.effect.getComputedTiming().activeDuration > 1).length)
      assert.equal(moving, 0, `${path} moves`)
    }
  }
})

test('the sign-in page does not move when the sandbox bar appears', { skip }, async (t) => {
  for (const bar of ['folded', 'open']) {
    const page = await visit(t, browser, service.base)
    await page.addInitScript((state) => localStorage.setItem('sandbox', state), bar)
    let release
    const held = new Promise((then) => { release = then })
    await page.route('**/sandbox/bar', async (route) => { await held; await route.fallback() })
    await page.goto('/sign-in')
    const field = page.locator('input[name=email]')
    await field.waitFor()
    await page.evaluate(() => document.fonts.ready)
    const { y } = await field.boundingBox()
    release()
    await page.getByRole('complementary', { name: 'Sandbox' }).waitFor()
    const moved = (await field.boundingBox()).y - y
    assert.ok(Math.abs(moved) < 1, `the field moves by ${moved} px with the bar ${bar}`)
  }
})

test('two clicks in the same instant send a form once', { skip }, async (t) => {
  const owner = await register(service.base, 'Dora Double', 'dora@manners.test', 'Double', { slug: 'team', seats: 5 })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/team')
  await page.getByRole('button', { name: 'Invite members' }).click()
  await page.getByRole('dialog').locator('[name=email]').fill('once@manners.test')
  let sent = 0
  page.on('request', (request) => { if (request.method() === 'POST' && /invitations$/.test(request.url())) sent++ })
  await page.getByRole('dialog').locator('button[type=submit]').evaluate((button) => { button.click(); button.click() })
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(sent, 1)
})

test('a slow page shows a skeleton after 300 ms, and keeps its frame', { skip }, async (t) => {
  const owner = await register(service.base, 'Sam Slow', 'sam@manners.test', 'Slow', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await settled(page)
  let answer
  const asked = new Promise((then) => { answer = then })
  let release
  const held = new Promise((then) => { release = then })
  await page.route(/\/api\/v1\/.*invoices/, async (route) => { answer(); await held; await route.fallback() })
  await page.getByRole('navigation').getByRole('link', { name: 'Invoices' }).click()
  await asked
  const skeleton = page.locator('.waiting').first()
  await skeleton.waitFor({ state: 'attached' })
  const opacity = () => skeleton.evaluate((one) => Number(getComputedStyle(one).opacity))
  assert.equal(await skeleton.evaluate((one) => getComputedStyle(one).animationDelay), '0.3s')
  await waitFor(async () => (await opacity()) === 1)
  assert.ok(await page.getByRole('navigation').getByRole('link', { name: 'Team' }).isVisible())
  release()
  await skeleton.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Invoices' }).first().waitFor()
})

test('a page that cannot be loaded without a connection leaves the console as it is', { skip }, async (t) => {
  const owner = await register(service.base, 'Nora Network', 'nora@manners.test', 'Network')
  const page = await visit(t, browser, service.base, { lost: true })
  await signIn(page, owner)
  await page.getByRole('navigation').getByRole('link', { name: 'Developers' }).waitFor()
  await settled(page)
  await page.context().setOffline(true)
  await page.getByRole('navigation').getByRole('link', { name: 'Developers' }).click()
  await page.getByRole('main').getByText('No connection').waitFor()
  assert.ok(await page.getByRole('navigation').getByRole('link', { name: 'Team' }).isVisible(), 'the navigation is still there')
  await page.context().setOffline(false)
  await page.getByRole('main').getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Developers' }).first().waitFor()
})

test('a refused field is in sight below the header, and the error of a form is beside its button', { skip }, async (t) => {
  const owner = await register(service.base, 'Una Under', 'una@manners.test', 'Under')
  const page = await visit(t, browser, service.base, { width: 390, expect: ['422 /api/v1/tenant', '500 /api/v1/tenant'] })
  await signIn(page, owner)
  await page.goto('/settings')
  await page.fill('[name=vat_number]', '?')
  const submit = page.locator('form:has([name=city]) button[type=submit]')
  await submit.click()
  const field = page.locator('.field:has([name=vat_number])')
  await field.locator('.error').waitFor()
  await waitFor(() => field.evaluate((one) => one.getBoundingClientRect().top >= document.querySelector('header.top').getBoundingClientRect().bottom), 'the field below the header')
  await page.fill('[name=vat_number]', '')
  await page.route('**/api/v1/tenant', (route) => (route.request().method() === 'PATCH' ? route.fulfill({ status: 500, json: { message: 'broken' } }) : route.fallback()))
  await submit.click()
  const problem = page.locator('form:has([name=city]) .note[role=alert]')
  await problem.waitFor()
  const distance = await problem.evaluate((one) => Math.abs(one.getBoundingClientRect().top - one.parentElement.querySelector('button[type=submit]').getBoundingClientRect().bottom))
  assert.ok(distance < 120, `the error is ${distance} px away from its button`)
})
