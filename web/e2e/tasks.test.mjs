// The frequent tasks of an operator and of a customer, each with the most clicks that it may take.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advance, call, check, hasBrowser, mailLink, register, settled, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

const skip = !hasBrowser()
const admin = { email: 'admin@tenantry.test', password: 'sandbox-admin' }
const declinedWhenAway = '4000000000000341'
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

/** Returns a new token, because moving the sandbox's clock expires earlier ones. */
const tokenOf = async ({ email, password }) => (await call(service.base, 'POST', '/api/v1/auth/login', { email, password })).accessToken

const ask = async (method, path, body) => call(service.base, method, `/api/v1${path}`, body, await tokenOf(admin))

const subscriptionOf = async ({ tenant }) => (await ask('GET', `/admin/tenants/${tenant}/subscriptions`)).data[0]

const dialog = (page) => page.getByRole('dialog')

/** Returns a function that runs a task and fails if it takes more clicks. A choice in a list counts as a click. */
async function clicksOf(t, page) {
  await page.addInitScript(() => {
    const count = () => { sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1 }
    addEventListener('pointerdown', count, true)
    addEventListener('change', (event) => { if (event.target instanceof HTMLSelectElement) count() }, true)
  })
  return async (task, most, run) => {
    await page.evaluate(() => { sessionStorage.clicks = 0 })
    await run()
    const clicks = Number(await page.evaluate(() => sessionStorage.clicks))
    t.diagnostic(`${task}: ${clicks} clicks`)
    assert.ok(clicks <= most, `${task} takes ${clicks} clicks, more than ${most}`)
  }
}

test('an operator answers for a payment that failed', { skip }, async (t) => {
  const owner = await register(service.base, 'Petra Payer', 'petra@payer.test', 'Payer', { slug: 'starter', card: declinedWhenAway })
  await advance(service.base, `${32 * 24}h`)
  await waitFor(async () => (await subscriptionOf(owner)).status === 'past_due')
  const page = await visit(t, browser, service.base, { expect: ['422 /api/v1/admin/tenants*'] })
  const takes = await clicksOf(t, page)
  await signIn(page, admin)
  await page.goto('/platform')
  await page.locator('.six').waitFor()
  await takes('find a customer by email and see why a payment failed', 0, async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('petra@payer.test')
    await page.getByRole('option', { name: /Payer/ }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(/^The payment of €19\.00 failed on/).waitFor()
  })
  await takes('charge the card again', 2, async () => {
    await page.getByRole('button', { name: 'Charge again' }).click()
    await dialog(page).getByText(/^Visa 0341/).waitFor()
    await check(page, 'the dialog that charges an invoice')
    await dialog(page).getByRole('button', { name: 'Charge invoice' }).click()
    await dialog(page).getByText('The payment was declined. Send the payment link to the customer.').waitFor()
  })
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await takes('void an invoice', 3, async () => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Void invoice' }).click()
    await dialog(page).getByRole('button', { name: 'Void invoice' }).click()
    await page.getByText(/^Invoice .* was voided\.$/).waitFor()
  })
})

test('an operator changes the terms of a customer', { skip }, async (t) => {
  const owner = await register(service.base, 'Theo Terms', 'theo@terms.test', 'Terms', { slug: 'starter' })
  const tried = await register(service.base, 'Tina Tries', 'tina@tries.test', 'Tries')
  const plan = (await ask('GET', '/admin/products?include=plans')).data.flatMap((one) => one.plans).find((one) => one.slug === 'starter')
  await ask('POST', `/admin/tenants/${tried.tenant}/subscriptions`, { plan_id: plan.id, currency: 'EUR', trial_days: 14 })
  const page = await visit(t, browser, service.base)
  const takes = await clicksOf(t, page)
  await signIn(page, admin)
  await page.goto(`/platform/tenants/${tried.tenant}`)
  await takes('extend a trial', 2, async () => {
    await page.getByRole('status').getByRole('button', { name: 'Extend trial' }).click()
    await dialog(page).getByRole('button', { name: /^Extend trial to/ }).click()
    await page.getByText(/^The trial ends on/).first().waitFor()
  })
  await page.goto(`/platform/tenants/${owner.tenant}`)
  await page.getByRole('button', { name: 'Change plan' }).waitFor()
  await takes('change the price', 3, async () => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Change price' }).click()
    await dialog(page).getByLabel('Price (EUR)').fill('15')
    await dialog(page).getByText('€15.00').waitFor()
    await check(page, 'the dialog that changes a price')
    await dialog(page).getByRole('button', { name: /^Change price on/ }).click()
    await page.getByText(/^The price of Starter changes on/).waitFor()
  })
  assert.equal((await subscriptionOf(owner)).pending_change.price_cents, 1500)
  await takes('set a cap', 3, async () => {
    await page.getByRole('navigation', { name: 'Tenant', exact: true }).getByRole('link', { name: 'Usage and limits' }).click()
    await page.getByRole('button', { name: 'Set cap of API calls' }).click()
    await dialog(page).getByLabel('Cap', { exact: true }).fill('900')
    await check(page, 'the dialog that sets a cap')
    await dialog(page).getByRole('button', { name: 'Save cap' }).click()
    await page.getByText('Sandbox Admin set a cap of 900.').waitFor()
  })
  await ask('DELETE', `/admin/tenants/${owner.tenant}/subscriptions/${(await subscriptionOf(owner)).id}/pending-change`)
  await ask('POST', `/admin/tenants/${owner.tenant}/subscriptions/${(await subscriptionOf(owner)).id}/cancel`, { immediately: false, reason: null })
  await page.goto(`/platform/tenants/${owner.tenant}`)
  await takes('resume a subscription', 2, async () => {
    await page.getByRole('button', { name: 'Resume subscription' }).click()
    await dialog(page).getByRole('button', { name: 'Resume subscription' }).click()
    await page.getByText(/^Starter renews on .* for €19\.00\.$/).waitFor()
  })
  assert.equal((await subscriptionOf(owner)).cancel_at_period_end, false)
})

test('an operator exports the invoices of last month, and the changes of a person', { skip }, async (t) => {
  const owner = await register(service.base, 'Lara Logged', 'lara@logged.test', 'Logged', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  const takes = await clicksOf(t, page)
  await signIn(page, admin)
  await page.goto('/platform')
  await page.locator('.six').waitFor()
  await takes('export the invoices of last month', 4, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Invoices' }).click()
    await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Issued' }).waitFor()
    await page.keyboard.press('?')
    await dialog(page).getByText('Search this list').waitFor()
    assert.equal(await dialog(page).getByText('Resend the event of a delivery').count(), 0)
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Issued' }).click()
    await page.getByRole('button', { name: 'Last month' }).click()
    await page.waitForURL(/issued_from=.*issued_to=/)
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export CSV' }).click()])
    assert.match(download.url(), /filter%5Bissued_from%5D=\d{4}-\d{2}-01&filter%5Bissued_to%5D=/)
  })
  await takes('see the churn', 1, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Analytics' }).click()
    await page.getByText(/churn/i).first().waitFor()
  })
  await page.goto(`/platform/tenants/${owner.tenant}/activity?kind=changes`)
  await page.getByText('Lara Logged completed the setup').waitFor()
  await page.getByRole('searchbox', { name: 'Search by name or email' }).fill('nobody')
  await page.getByText('No results for these filters').waitFor()
  await page.getByRole('searchbox', { name: 'Search by name or email' }).fill('lara@logged')
  await page.getByText('Lara Logged completed the setup').waitFor()
  await check(page, 'the changes of a person')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Export CSV' }).click()])
  assert.match(download.url(), /audit-logs\?.*search=lara%40logged/)
  await page.goto('/platform/activity?view=acting')
  await page.getByLabel('From').fill('2020-01-01')
  await page.waitForURL(/from=2020-01-01/)
  await check(page, 'the impersonations of a time')
})

test('an operator refunds, raises a limit, finds a failed webhook and ends an impersonation', { skip }, async (t) => {
  const owner = await register(service.base, 'Hugo Helped', 'hugo@helped.test', 'Helped', { slug: 'starter' })
  const hooks = `/api/v1/tenant/${owner.tenant}/webhook-endpoints`
  const { data: endpoint } = await call(service.base, 'POST', hooks, { url: `${service.base}/sandbox/hooks/in/gone`, events: ['webhook.test', 'tenant.updated'] }, owner.token)
  await call(service.base, 'POST', '/sandbox/hooks/in/gone/answer', { status: 410 })
  await call(service.base, 'POST', `${hooks}/${endpoint.id}/test`, undefined, owner.token)
  await waitFor(async () => (await call(service.base, 'GET', `${hooks}/${endpoint.id}/deliveries?status=failed`, undefined, owner.token)).data.length > 0)
  const page = await visit(t, browser, service.base)
  const takes = await clicksOf(t, page)
  await signIn(page, admin)
  await page.goto('/platform')
  await page.locator('.six').waitFor()
  await takes('find a failed webhook and its response', 1, async () => {
    await page.getByRole('link', { name: 'Customer webhooks', exact: true }).click()
    await page.waitForURL(/deliveries\?status=failed/)
    await page.getByText('410 Gone').first().waitFor()
  })
  await call(service.base, 'PATCH', '/api/v1/tenant', { name: 'Helped well' }, owner.token)
  await waitFor(async () => (await call(service.base, 'GET', `${hooks}/${endpoint.id}/deliveries?status=failed`, undefined, owner.token)).data.length > 1)
  await page.reload()
  await page.getByText('Not sent, because the endpoint was disabled.').waitFor()
  await check(page, 'an event that was not sent')
  await page.goto('/platform')
  await page.locator('.six').waitFor()
  await takes('refund a payment', 5, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Invoices' }).click()
    await page.getByRole('row', { name: /Helped/ }).getByRole('button', { name: /^Actions for invoice/ }).click()
    await page.getByRole('menuitem', { name: 'Refund or credit' }).click()
    await dialog(page).getByRole('checkbox').first().check()
    await dialog(page).getByRole('button', { name: 'Refund €19.00' }).click()
    await page.getByText(/^Credit note .* was created\.$/).waitFor()
  })
  await page.goto(`/platform/tenants/${owner.tenant}`)
  await page.getByRole('button', { name: 'Change plan' }).waitFor()
  await takes('raise a limit', 3, async () => {
    await page.getByRole('navigation', { name: 'Tenant', exact: true }).getByRole('link', { name: 'Usage and limits' }).click()
    await page.getByRole('button', { name: 'Change limit of API calls' }).click()
    await dialog(page).getByRole('textbox', { name: 'Limit of API calls' }).fill('5000')
    await dialog(page).getByLabel('Reason').fill('Ticket 4711')
    await dialog(page).getByRole('button', { name: /^Set limit to/ }).click()
    await page.getByText('The limit of API calls was changed.').waitFor()
  })
  await page.getByRole('button', { name: 'Act as…' }).click()
  await dialog(page).getByLabel('Reason').fill('Ticket 4711')
  await dialog(page).getByRole('button', { name: 'Act as Hugo Helped' }).click()
  await page.locator('.actas', { hasText: 'Hugo Helped' }).waitFor()
  await settled(page)
  await takes('end an impersonation', 1, async () => {
    await page.getByRole('button', { name: 'Stop and go back' }).click()
    await page.waitForURL(new RegExp(`/platform/tenants/${owner.tenant}`))
    await page.locator('.actas').waitFor({ state: 'detached' })
  })
})

test('a customer invites five people, and each result is shown', { skip }, async (t) => {
  const owner = await register(service.base, 'Iris Invites', 'iris@invites.test', 'Invites', { slug: 'team', seats: 8 })
  const page = await visit(t, browser, service.base, { expect: ['409 /api/v1/tenant*', '422 /api/v1/tenant*'] })
  const takes = await clicksOf(t, page)
  await signIn(page, owner)
  await takes('invite five people', 3, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Team' }).click()
    await page.getByRole('button', { name: 'Invite members' }).click()
    await dialog(page).getByLabel('Email').fill('Ann <a@new.test>, b@new.test; c@new.test\nd@new.test e@new.test')
    await dialog(page).getByRole('button', { name: 'Send 5 invitations' }).click()
    await page.getByText('5 invitations sent').waitFor()
  })
  await page.getByRole('row', { name: /a@new\.test/ }).waitFor()
  await page.getByRole('button', { name: 'Invite members' }).click()
  await dialog(page).getByLabel('Email').fill('f@new.test, iris@invites.test')
  await dialog(page).getByRole('button', { name: 'Send 2 invitations' }).click()
  await dialog(page).getByRole('listitem').filter({ hasText: 'f@new.test' }).getByText('Sent').waitFor()
  await dialog(page).getByRole('listitem').filter({ hasText: 'iris@invites.test' }).locator('.st.bad').waitFor()
  await waitFor(async () => await dialog(page).getByLabel('Email').inputValue() === 'iris@invites.test')
  await check(page, 'invitations of which one was refused')
  const phone = await visit(t, browser, service.base, { width: 390, theme: 'dark', locale: 'es-ES' })
  await signIn(phone, owner)
  await phone.goto('/team?search=iris')
  await phone.getByRole('searchbox').waitFor()
  await phone.getByText('iris@invites.test').first().waitFor()
  assert.equal(await phone.getByText('a@new.test').count(), 0)
  await check(phone, 'a search for a member on a phone in Spanish')
})

test('a customer changes to a smaller plan at renewal, and buys units', { skip }, async (t) => {
  await ask('POST', '/admin/packs', { slug: 'calls-500', feature_code: 'api-calls', name: { en: '500 API calls' }, amount: 500, prices: [{ currency: 'EUR', price_cents: 1250 }] })
  const owner = await register(service.base, 'Rudi Renews', 'rudi@renews.test', 'Renews', { slug: 'team', seats: 3 })
  await advance(service.base, '360h') // to the end of the trial
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/usage`, { meter_code: 'api-calls', quantity: 900 }, await tokenOf(owner))
  const page = await visit(t, browser, service.base)
  const takes = await clicksOf(t, page)
  await signIn(page, owner)
  await page.locator('.nav-head', { hasText: 'Renews' }).waitFor()
  await takes('change the plan at renewal', 3, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Plan' }).click()
    await page.getByRole('radio', { name: /^Starter/ }).check()
    await page.getByRole('button', { name: /^Change to Starter on/ }).click()
    await page.getByText(/^Changes to Starter on/).waitFor()
  })
  assert.equal((await subscriptionOf(owner)).pending_change.kind, 'scheduled')
  await page.getByRole('navigation').getByRole('link', { name: 'Home' }).click()
  await takes('buy units', 3, async () => {
    await page.getByRole('link', { name: 'All usage' }).click()
    await page.getByRole('button', { name: 'Buy a pack' }).first().click()
    await dialog(page).getByRole('button', { name: 'Pay €12.50' }).click()
    await page.waitForSelector('form#pay')
  })
  await page.fill('[name=card_number]', '4242 4242 4242 4242')
  await page.click('form#pay button')
  await page.getByText('500 units added').waitFor()
})

test('a customer adds a passkey', { skip }, async (t) => {
  // Passkeys of a loopback address belong to localhost.
  const site = service.base.replace('127.0.0.1', 'localhost')
  const owner = await register(service.base, 'Pia Passkey', 'pia@passkey.test', 'Passkeys')
  await call(service.base, 'POST', '/api/v1/user/email/verification', undefined, owner.token)
  const proof = new URL(await mailLink(service.base, owner.email, /verify-email/)).searchParams.get('token')
  await call(service.base, 'POST', '/api/v1/auth/verify-email', { token: proof })
  const page = await visit(t, browser, site)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  })
  const takes = await clicksOf(t, page)
  await signIn(page, owner)
  await page.locator('.nav-head', { hasText: 'Passkeys' }).waitFor()
  await takes('add a passkey', 4, async () => {
    await page.getByRole('button', { name: 'Pia Passkey: account' }).click()
    await page.getByRole('menuitem', { name: 'Profile' }).click()
    await page.getByRole('main').getByRole('link', { name: 'Security' }).click()
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await dialog(page).locator('[name=current_password]').fill(owner.password)
    await page.keyboard.press('Enter')
    await dialog(page).getByLabel('Name').fill('Laptop')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /Laptop/ }).waitFor()
  })
})

test('a customer finds an invoice of last year', { skip }, async (t) => {
  const owner = await register(service.base, 'Lea Last', 'lea@last.test', 'Last Year', { slug: 'starter' })
  await advance(service.base, `${400 * 24}h`)
  const paid = async () => (await call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/invoices?per_page=100`, undefined, await tokenOf(owner))).data
  const invoices = await waitFor(async () => { const all = await paid(); return all.length > 12 && all })
  const first = invoices.at(-1)
  const page = await visit(t, browser, service.base)
  const takes = await clicksOf(t, page)
  await signIn(page, owner)
  await page.locator('.nav-head', { hasText: 'Last Year' }).waitFor()
  await takes('find an invoice of last year', 2, async () => {
    await page.getByRole('navigation').getByRole('link', { name: 'Invoices' }).click()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: `PDF of ${first.number}` }).click()])
    assert.match(download.suggestedFilename(), new RegExp(`${first.number}\\.pdf$`))
  })
})
