// Payments: a failed renewal, a bank that requires confirmation, plan changes and their invoices.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advance, call, check, hasBrowser, joins, notified, register, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

const skip = !hasBrowser()
const declinedWhenAway = '4000000000000341'
const asksTheBank = '4000002760003184'
let service, browser

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

const subscriptionOf = (owner) => call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/subscription`, undefined, owner.token).then(({ data }) => data)
const invoicesOf = (owner) => call(service.base, 'GET', `/api/v1/tenant/${owner.tenant}/invoices`, undefined, owner.token).then(({ data }) => data)

/** Logs in again through the API, because moving the clock expires tokens. */
async function again(owner) {
  const { accessToken } = await call(service.base, 'POST', '/api/v1/auth/login', { email: owner.email, password: owner.password })
  return { ...owner, token: accessToken }
}

const failing = [
  { width: 1280, locale: 'en-GB', theme: 'light', open: 'is unpaid', retry: 'retried on', total: /€19\.00 open/, card: 'Visa ending in 0341', another: 'Use another card', pay: /^Pay €/, thanks: 'received. Thank you.' },
  { width: 390, locale: 'es-ES', theme: 'dark', open: 'por pagar', retry: 'se volverá a intentar', total: /19,00\s€ por pagar ·/, card: 'Visa terminada en 0341', another: 'Usar otra tarjeta', pay: /^Pagar/, thanks: 'recibido. Gracias.' },
]
for (const [i, words] of failing.entries()) {
  test(`a renewal fails, and a new card pays it, in ${words.locale} at ${words.width} px`, { skip }, async (t) => {
    let owner = await register(service.base, 'Fred Fails', `fred${i}@money.test`, `Fails ${i}`, { slug: 'starter', card: declinedWhenAway })
    await advance(service.base, `${32 * 24}h`)
    owner = await again(owner)
    await waitFor(async () => (await subscriptionOf(owner)).status === 'past_due')
    const page = await visit(t, browser, service.base, words)
    await signIn(page, owner)
    await page.locator('.attention .note.bad', { hasText: words.open }).waitFor()
    await page.locator('.attention .note.bad', { hasText: words.retry }).waitFor()
    await check(page, 'a failed renewal')
    await page.goto('/invoices')
    await page.locator('.yearline', { hasText: words.total }).waitFor()
    await check(page, 'an open invoice')
    await page.goto('/plan')
    await page.getByText(words.card).waitFor()
    await page.goto('/')
    await page.getByRole('button', { name: words.another }).first().click()
    await page.waitForSelector('form#card')
    await page.fill('[name=card_number]', '4242 4242 4242 4242')
    await page.click('form#card button')
    await page.locator('#method', { hasText: '4242' }).waitFor()
    await page.locator('p.back a').first().click()
    await page.waitForURL(`${service.base}/`)
    // The provider may already have charged the new card when the user returns.
    const pay = page.locator('.attention').getByRole('button', { name: words.pay })
    await pay.click()
    await page.locator('.toast', { hasText: words.thanks }).waitFor()
    await page.locator('.attention .note.bad').waitFor({ state: 'detached' })
    assert.equal((await subscriptionOf(owner)).status, 'active')
    assert.ok((await invoicesOf(owner)).every((one) => one.status === 'paid'))
  })
}

test('the bank wants to be asked at a change of plan: refused, dropped, then confirmed', { skip }, async (t) => {
  const owner = await register(service.base, 'Bea Bank', 'bea@money.test', 'Bank', { slug: 'starter' })
  const page = await visit(t, browser, service.base, { width: 390, locale: 'fr-FR', expect: ['402 /sandbox/invoices/*'] })
  await signIn(page, owner)
  const chooseTeam = async () => {
    await page.getByRole('radio', { name: /^Équipe/ }).check()
    // A preview that is still being read would be refused after the change.
    await page.getByRole('button', { name: /^Passer à Équipe/ }).and(page.locator(':enabled')).waitFor()
    await page.getByLabel('Sièges', { exact: true }).fill('3')
    await page.getByRole('button', { name: /^Passer à Équipe.*payer/ }).click()
  }
  await page.goto('/plan')
  await page.getByRole('button', { name: 'Changer de moyen de paiement' }).click()
  await page.waitForSelector('form#card')
  await page.fill('[name=card_number]', asksTheBank)
  await page.click('form#card button')
  await page.locator('#method', { hasText: '3184' }).waitFor()
  await page.goto('/plan')
  await chooseTeam()
  await page.waitForSelector('form#refuse')
  const [refused] = await Promise.all([page.waitForResponse((response) => response.request().method() === 'POST' && response.url().includes('/sandbox/invoices/')), page.click('form#refuse button')])
  assert.equal(refused.status(), 402)
  await notified(service.base)
  await page.goto('/plan')
  await page.locator('.attention .note.warn').waitFor()
  await check(page, 'a change that waits')
  await page.locator('.attention').getByRole('button').first().click()
  await page.locator('.attention .note.warn').waitFor({ state: 'detached' })
  assert.equal((await subscriptionOf(owner)).plan.name, 'Starter')

  await chooseTeam()
  await page.waitForSelector('form#confirm')
  await page.click('form#confirm button')
  await waitFor(async () => (await subscriptionOf(owner)).plan.name === 'Team')
  await page.goto('/plan')
  await page.getByRole('radio', { name: /^Équipe/, checked: true }).waitFor()
  assert.equal(await page.locator('.attention .note.warn').count(), 0)
})

test('a change of plan shows what it costs, charges that, and its invoice says the same', { skip }, async (t) => {
  const owner = await register(service.base, 'Pia Plan', 'pia@money.test', 'Plan', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/plan')
  await page.getByRole('radio', { name: /^Team/ }).check()
  await page.getByRole('button', { name: 'Add a seat' }).click()
  await page.getByRole('button', { name: 'Add a seat' }).click()
  const button = page.getByRole('button', { name: /Change to Team — pay/ })
  await page.locator('.receipt', { hasText: '3 × €' }).waitFor()
  await check(page, 'a preview')
  const amount = (await button.and(page.locator(':enabled')).textContent()).match(/€[\d.,]+/)?.[0]
  await button.click()
  await page.getByText('You are now on Team').waitFor()
  await page.getByRole('link', { name: 'View invoice' }).click()
  await page.getByRole('row', { name: /Team/ }).first().waitFor()
  await waitFor(async () => (await page.getByRole('row').filter({ hasText: amount }).count()) > 0 || (await page.reload(), false))
  const [invoice] = await invoicesOf(owner)
  await page.getByRole('row').filter({ hasText: amount }).first().getByRole('link').first().click()
  await page.getByText(`Invoice ${invoice.number}`).waitFor()
  const pdf = page.getByRole('link', { name: `PDF of ${invoice.number}` })
  const [download] = await Promise.all([page.waitForEvent('download'), pdf.click()])
  assert.match(download.suggestedFilename(), new RegExp(`${invoice.number}\\.pdf$`))
})

test('seats follow the team up and down', { skip }, async (t) => {
  const owner = await register(service.base, 'Sia Seats', 'sia@money.test', 'Seats', { slug: 'team', seats: 1 })
  await joins(service.base, owner, 'Ugo Uno', 'ugo@money.test')
  await waitFor(async () => (await subscriptionOf(owner)).quantity === 2)
  const page = await visit(t, browser, service.base, { width: 390, locale: 'it-IT', theme: 'dark' })
  await signIn(page, owner)
  await page.getByRole('heading', { name: /2 postazioni/ }).waitFor()
  await page.goto('/team')
  const row = page.getByRole('row', { name: /Ugo Uno/ })
  await row.getByRole('button').last().click()
  await page.getByRole('menuitem', { name: 'Rimuovi dal team' }).click()
  await check(page, 'the question of removing')
  await page.getByRole('dialog').locator('button[type=submit]').click()
  await row.waitFor({ state: 'detached' })
  await waitFor(async () => (await subscriptionOf(owner)).quantity === 1)
  await page.goto('/')
  await page.getByRole('heading', { name: /1 postazione/ }).waitFor()
})

test('the subscription is canceled, kept after all, and ended at once', { skip }, async (t) => {
  const owner = await register(service.base, 'Cam Cancels', 'cam@money.test', 'Cancels', { slug: 'starter' })
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/plan')
  const end = page.getByRole('button', { name: 'Cancel Starter', exact: true })
  await end.click()
  await page.getByRole('dialog').getByLabel('Why are you canceling?').fill('too dear')
  await check(page, 'the question of the end')
  await page.getByRole('dialog').locator('button[type=submit]').click()
  await page.getByText(/Starter ends on/).first().waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const undo = page.locator('.toast').getByRole('button', { name: 'Undo' })
  await undo.focus() // a focused message does not disappear
  assert.ok((await subscriptionOf(owner)).cancel_at)
  await undo.click()
  await end.waitFor()
  assert.equal((await subscriptionOf(owner)).cancel_at, null, 'it was taken back')
  await end.click()
  await page.getByRole('dialog').locator('button[type=submit]').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Keep Starter' }).click()
  await end.waitFor()
  assert.equal((await subscriptionOf(owner)).cancel_at, null, 'it is kept')
  await end.click()
  await page.getByRole('dialog').getByRole('radio', { name: /Immediately/ }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel Starter immediately' }).click()
  await page.getByRole('heading', { name: 'Choose a plan' }).waitFor()
  assert.equal(await subscriptionOf(owner), null)
})
