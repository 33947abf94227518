// The web components for customers' own pages, on the sandbox page that shows them.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { advance, call, check, hasBrowser, mailLink, register, startBrowser, startService, visit } from '../world.mjs'

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

const looks = [
  { width: 1280, theme: 'light', lang: 'en' }, { width: 390, theme: 'dark', lang: 'fr' },
  { width: 1280, theme: 'dark', lang: 'it' }, { width: 320, theme: 'light', lang: 'es' },
]
const names = ['pricing', 'team', 'billing', 'usage', 'account']

/** Opens the page of an element, signed in as person or signed out without one. */
async function open(page, name, person) {
  if (person) {
    await page.goto('/sandbox/elements')
    await page.evaluate(async ({ email, password }) => {
      const token = (await fetch('/csrf-cookie')).headers.get('X-CSRF-Token')
      const headers = { 'Content-Type': 'application/json', 'X-XSRF-TOKEN': token }
      const answer = await fetch('/api/v1/auth/login', { method: 'POST', headers, body: JSON.stringify({ email, password }) })
      if (!answer.ok) throw new Error(`login: ${answer.status}`)
    }, person)
  }
  await page.goto(`/sandbox/elements?show=${name}`)
  const element = page.locator(`tenantry-${name}`)
  await element.getByRole('heading').or(element.locator('.empty')).first().waitFor()
  return element
}

/** Waits for an event of the element in the page's list. */
const told = (page, text) => page.locator('#events').getByText(text).first().waitFor()

test('every element passes axe and fits, in each language', { skip }, async (t) => {
  const owner = await register(service.base, 'Ella Elements', 'ella@elements.test', 'Elements & Co', { slug: 'starter' })
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/team/invitations`, { email: 'waits@elements.test', role: 'member' }, owner.token)
  for (const { lang, ...look } of looks) {
    const page = await visit(t, browser, service.base, look)
    for (const person of [undefined, owner]) {
      for (const name of names) {
        // Signed out, only the plans are visible. The rejected request is expected.
        if (!person && name !== 'pricing') continue
        await open(page, name, name === 'pricing' ? person : undefined)
        await page.selectOption('[name=lang]', lang)
        await page.locator(`tenantry-${name} [lang="${lang}"]`).waitFor()
        await check(page, `${name} at ${look.width} px, ${look.theme}, ${lang}`)
      }
    }
  }
})

test('signed-out visitors see a sign-in link, and the plans load without a session', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, { expect: ['401 /api/v1/tenant', '401 /api/v1/auth/me'] })
  const team = await open(page, 'team')
  assert.match(await team.getByRole('link', { name: 'Sign in' }).getAttribute('href'), /sign-in/)
  await check(page, 'team, signed out')
  const asked = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const pricing = await open(page, 'pricing')
  await pricing.getByText('Starter').first().waitFor()
  assert.ok(!asked.includes('/api/v1/tenant'), asked.join(' '))
  const link = pricing.getByRole('link', { name: 'Choose Starter' })
  assert.match(await link.getAttribute('href'), /\/onboarding\?plan=starter&currency=/)
  await pricing.evaluate((element) => element.addEventListener('tenantry-choose', (event) => event.preventDefault()))
  await link.click()
  await told(page, 'tenantry-choose {"plan":"starter"')
})

test('a plan is bought, and changed for another', { skip }, async (t) => {
  const owner = await register(service.base, 'Paula Pays', 'paula@pays.test', 'Pays')
  const page = await visit(t, browser, service.base)
  const pricing = await open(page, 'pricing', owner)
  await pricing.getByRole('button', { name: 'Choose Starter' }).click()
  await pricing.getByRole('dialog').getByText('Due now').waitFor()
  await check(page, 'the receipt of a first plan')
  await pricing.getByRole('button', { name: /Continue to payment/ }).click()
  await page.waitForURL(/\/sandbox\/checkout\//)
  await page.fill('[name=card_number]', '4242424242424242')
  await page.locator('form button').first().click()
  await page.waitForURL(/checkout=paid/)
  await pricing.getByText('Your plan: Starter').waitFor()
  await pricing.getByRole('listitem').filter({ hasText: 'Starter' }).getByText('Current').waitFor()
  await page.goto('/sandbox/elements?show=pricing')
  await pricing.getByRole('button', { name: 'Choose Team' }).click()
  const dialog = pricing.getByRole('dialog')
  await dialog.getByText('Next regular invoice').waitFor()
  await dialog.getByLabel('Seats').fill('3')
  await dialog.getByLabel('Seats').blur()
  await dialog.getByText('3 ×').first().waitFor()
  await check(page, 'the receipt of a change')
  await dialog.getByRole('button', { name: /Change to Team/ }).click()
  await pricing.getByText('You are now on Team').waitFor()
  await told(page, 'tenantry-changed {"what":"subscription"}')
  const { data } = await call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/subscription`, undefined, owner.token)
  assert.deepEqual([data.plan.name, data.quantity], ['Team', 3])
})

test('a colleague is invited, gets a role and is removed', { skip }, async (t) => {
  const owner = await register(service.base, 'Tim Team', 'tim@team.test', 'Teams', { slug: 'starter' })
  const page = await visit(t, browser, service.base, { width: 390, expect: ['422 /api/v1/tenant/*', '409 /api/v1/tenant/*'] })
  const team = await open(page, 'team', owner)
  await team.getByRole('button', { name: 'Invite member' }).click()
  const dialog = team.getByRole('dialog')
  assert.equal(await dialog.getByLabel('Email').evaluate((field) => field.getRootNode().activeElement === field), true)
  await dialog.getByLabel('Email').fill('nobody')
  await dialog.getByRole('button', { name: 'Send invitation' }).click()
  await dialog.locator('[aria-invalid=true][name=email]').waitFor()
  await check(page, 'a rejected invitation')
  await dialog.getByLabel('Email').fill('nora@team.test')
  await dialog.getByLabel('Email').press('Enter')
  await team.getByText('Invitation sent to nora@team.test').waitFor()
  await dialog.waitFor({ state: 'hidden' })
  await team.getByText('2 of 5 seats are taken').waitFor()
  const token = new URL(await mailLink(service.base, 'nora@team.test', /invitations/)).pathname.split('/').at(-1)
  await call(service.base, 'POST', `/api/v1/invitations/${token}/accept-with-registration`, { name: 'Nora New', email: 'nora@team.test', password: 'correct-horse', password_confirmation: 'correct-horse' })
  const nora = await visit(t, browser, service.base)
  const hers = await open(nora, 'team', { email: 'nora@team.test', password: 'correct-horse' })
  await hers.getByText('tim@team.test').waitFor()
  assert.deepEqual(await hers.getByRole('button').allTextContents(), ['Leave team'])
  const billing = await open(nora, 'billing')
  await billing.getByRole('heading', { name: 'Invoices' }).waitFor()
  assert.deepEqual(await billing.getByRole('button').allTextContents(), [])
  await team.evaluate((element) => element.reload())
  await team.getByLabel('Role of Nora New').selectOption({ label: 'Admin' })
  await team.getByText('Nora New now has the role Admin').waitFor()
  await team.getByRole('button', { name: 'Remove Nora New' }).click()
  await dialog.getByRole('button', { name: 'Remove Nora New' }).click()
  await team.getByText('Nora New was removed from the team').waitFor()
  await told(page, 'tenantry-changed {"what":"team"}')
  const { data } = await call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/team/members`, undefined, owner.token)
  assert.equal(data.length, 1)
})

test('a subscription is canceled and resumed, and its invoice downloaded', { skip }, async (t) => {
  const owner = await register(service.base, 'Bea Bills', 'bea@bills.test', 'Bills', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  const billing = await open(page, 'billing', owner)
  await billing.getByRole('heading', { name: /Starter — €19\.00 on/ }).waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), billing.getByRole('link', { name: /^PDF of/ }).click()])
  assert.match(download.suggestedFilename(), /\.pdf$/)
  await billing.getByRole('button', { name: 'Cancel Starter' }).click()
  await check(page, 'the cancellation of a subscription')
  await billing.getByRole('dialog').getByRole('button', { name: 'Cancel Starter' }).click()
  await billing.getByRole('heading', { name: /Starter — ends on/ }).waitFor()
  await billing.getByRole('button', { name: 'Keep Starter' }).click()
  await billing.getByText('Starter continues').waitFor()
  await billing.getByRole('button', { name: 'Change plan' }).click()
  await billing.locator('tenantry-pricing').getByRole('button', { name: 'Choose Team' }).waitFor()
  await check(page, 'plans above the billing')
  await page.keyboard.press('Escape')
  await billing.getByRole('button', { name: 'Change payment method' }).click()
  await page.waitForURL(/\/sandbox\/portal\//)
})

test('a payment that failed is paid with another card', { skip }, async (t) => {
  const owner = await register(service.base, 'Otto Owes', 'otto@owes.test', 'Owes', { slug: 'starter', card: '4000000000000341' })
  const page = await visit(t, browser, service.base, { expect: ['402 /api/v1/tenant/*', '409 /api/v1/tenant/*', '422 /api/v1/tenant/*'] })
  await advance(service.base, '768h')
  const billing = await open(page, 'billing', owner)
  for (let i = 0; i < 50 && !(await billing.getByText('is due').count()); i++) {
    await new Promise((then) => setTimeout(then, 200))
    await billing.evaluate((element) => element.reload())
  }
  await billing.getByRole('button', { name: /^Pay/ }).first().click()
  await billing.getByRole('dialog').getByText('Your bank declined the payment').waitFor()
  await check(page, 'a declined payment')
})

test('usage shows events, and warns near a limit', { skip }, async (t) => {
  const owner = await register(service.base, 'Uma Uses', 'uma@uses.test', 'Uses', { slug: 'starter' })
  const page = await visit(t, browser, service.base, { theme: 'dark' })
  const usage = await open(page, 'usage', owner)
  await usage.getByText('0 of 1,000').waitFor()
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/usage`, { meter_code: 'api-calls', quantity: 900 }, owner.token)
  await page.evaluate(() => document.dispatchEvent(new CustomEvent('tenantry-changed')))
  await usage.getByText('900 of 1,000', { exact: true }).waitFor()
  await usage.getByText('API calls: limit almost reached').waitFor()
  await check(page, 'usage near a limit')
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/usage`, { meter_code: 'api-calls', quantity: 99.9995 }, owner.token)
  await page.evaluate(() => document.dispatchEvent(new CustomEvent('tenantry-changed')))
  await usage.getByText('999.9995 of 1,000', { exact: true }).waitFor()
})

test('a user changes name, language and password, and ends another session', { skip }, async (t) => {
  const owner = await register(service.base, 'Ada Account', 'ada@account.test', 'Accounts')
  const page = await visit(t, browser, service.base, { expect: ['422 /api/v1/user/password'] })
  const account = await open(page, 'account', owner)
  await account.getByLabel('Name').fill('Ada Lovelace')
  await account.getByLabel('Language').selectOption('it')
  await account.getByRole('button', { name: 'Save' }).click()
  await account.getByText('Saved').waitFor()
  const { user } = await call(service.base, 'GET', '/api/v1/auth/me', undefined, owner.token)
  assert.deepEqual([user.name, user.locale], ['Ada Lovelace', 'it'])
  await account.getByLabel('Current password').fill('wrong')
  await account.getByLabel('New password', { exact: true }).fill('battery-staple')
  await account.getByLabel('Confirm new password').fill('battery-staple')
  await account.getByRole('button', { name: 'Change password' }).click()
  await account.locator('[name=current_password][aria-invalid=true]').waitFor()
  await check(page, 'a rejected password')
  assert.equal(await account.getByLabel('New password', { exact: true }).inputValue(), 'battery-staple')
  await account.getByLabel('Current password').fill(owner.password)
  await account.getByRole('button', { name: 'Change password' }).click()
  await account.getByText('Your password was changed').waitFor()
  await call(service.base, 'POST', '/api/v1/auth/login', { email: owner.email, password: 'battery-staple' })
  await account.evaluate((element) => element.reload())
  await account.getByRole('button', { name: /^End session on/ }).first().click()
  await account.getByText('The session was ended').waitFor()
  await account.getByRole('button', { name: 'Change email address' }).click()
  await account.getByRole('dialog').getByLabel('New email').fill('ada@lovelace.test')
  await account.getByRole('dialog').getByLabel('Your password').fill('battery-staple')
  await account.getByRole('button', { name: 'Send link to new address' }).click()
  await account.getByText('Check the inbox of ada@lovelace.test').waitFor()
})

test('a page with a token works without cookies, and renews the token once', { skip }, async (t) => {
  const owner = await register(service.base, 'Toni Token', 'toni@token.test', 'Tokens', { slug: 'starter' })
  const page = await visit(t, browser, service.base, { expect: ['401 /api/v1/tenant', '401 /api/v1/auth/me'] })
  await page.goto('/sandbox/elements?show=team')
  await page.evaluate((token) => {
    window.renewed = 0
    let held = 'expired'
    document.querySelector('tenantry-team').getToken = async (refused) => {
      if (refused) {
        window.renewed++
        await new Promise((then) => setTimeout(then, 50))
        held = token
      }
      return held
    }
  }, owner.token)
  const team = page.locator('tenantry-team')
  await team.getByText('toni@token.test').waitFor()
  assert.equal(await page.evaluate(() => window.renewed), 1)
  assert.deepEqual(await page.context().cookies(), [])
})

test('without a connection nothing is lost', { skip }, async (t) => {
  const owner = await register(service.base, 'Olga Offline', 'olga@offline.test', 'Offline', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  const account = await open(page, 'account', owner)
  await account.getByLabel('Name').fill('Olga Online')
  const block = (route) => route.abort('aborted')
  await page.route('**/api/v1/user', block)
  await account.getByRole('button', { name: 'Save' }).click()
  await account.getByText('No connection').waitFor()
  assert.equal(await account.getByLabel('Name').inputValue(), 'Olga Online')
  await told(page, 'tenantry-error {"status":0')
  await page.unroute('**/api/v1/user', block)
  await account.getByRole('button', { name: 'Save' }).click()
  await account.getByText('Saved').waitFor()
})

test('a page of another origin uses them under a strict policy', { skip }, async (t) => {
  const owner = await register(service.base, 'Cora Cross', 'cora@cross.test', 'Cross', { slug: 'starter' })
  const policy = `default-src 'none'; script-src ${service.base}; connect-src ${service.base}; img-src data:; base-uri 'none'; require-trusted-types-for 'script'; trusted-types lit-html`
  const site = createServer((request, answer) => {
    answer.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' })
    answer.end(`<!doctype html><html lang="es-MX"><title>Tienda</title><link rel="icon" href="data:,"><main><h1>Tienda</h1>
      <tenantry-team></tenantry-team><tenantry-usage></tenantry-usage></main><script type="module" src="${service.base}/elements/v1/elements.js"></script></html>`)
  })
  await new Promise((then) => site.listen(0, '127.0.0.1', then))
  t.after(() => new Promise((then) => { site.close(then); site.closeAllConnections() }))
  const page = await visit(t, browser, `http://127.0.0.1:${site.address().port}`, { expect: ['401 /api/v1/*'] })
  await page.goto('/')
  const team = page.locator('tenantry-team')
  await team.getByText('No ha iniciado sesión').waitFor()
  await page.evaluate(async ({ base, email, password }) => {
    const token = (await fetch(`${base}/csrf-cookie`, { credentials: 'include', referrerPolicy: 'origin' })).headers.get('X-CSRF-Token')
    const headers = { 'Content-Type': 'application/json', 'X-XSRF-TOKEN': token }
    await (await fetch(`${base}/api/v1/auth/login`, { method: 'POST', credentials: 'include', headers, body: JSON.stringify({ email, password }) })).json()
    document.dispatchEvent(new CustomEvent('tenantry-changed'))
  }, { base: service.base, ...owner })
  await team.getByText('cora@cross.test').waitFor()
  await page.locator('tenantry-usage').getByText(/^Uso desde el/).waitFor()
  await team.getByRole('button', { name: 'Invitar a un miembro' }).click()
  await team.getByRole('dialog').getByLabel('Correo electrónico').fill('nuevo@cross.test')
  await team.getByRole('button', { name: 'Enviar invitación' }).click()
  await team.getByText('Invitación enviada a nuevo@cross.test').waitFor()
  await check(page, 'a page of another origin')
})
