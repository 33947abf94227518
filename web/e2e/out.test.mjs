// Signed-out users.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, check, enterPassword, hasBrowser, hasFocus, mailLink, register, startBrowser, startService, visit } from './world.mjs'

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

async function pay(page, card) {
  await page.waitForSelector('form#pay')
  await page.fill('[name=card_number]', card)
  await page.click('form#pay button')
}

test('from the prices to a paid subscription', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, { expect: ['422 /api/v1/onboarding/start'] })
  await page.goto('/pricing')
  await check(page, 'prices')
  await page.getByRole('link', { name: 'Try Team' }).click()
  await check(page, 'account')
  await page.getByLabel('Add a seat').click()
  await page.fill('[name=name]', 'Ada Buyer')
  await page.fill('[name=email]', 'ada@buyer.test')
  await page.fill('[name=tenant_name]', 'Buyer & Sons')
  await page.reload()
  assert.equal(await page.inputValue('[name=email]'), 'ada@buyer.test', 'a reload keeps what was typed')
  assert.equal(await page.getByLabel('Seats', { exact: true }).inputValue(), '2')
  await page.getByRole('button', { name: /Continue to payment — €24/ }).click()
  await page.locator('.field:has([name=password]) .error').waitFor()
  assert.equal(await page.locator('form > .error').count(), 0, 'each error is at its field')
  await page.fill('[name=password]', 'short')
  await page.getByRole('button', { name: /Continue to payment — €24/ }).click()
  await page.locator('.field:has([name=password]) .error', { hasText: 'at least 8' }).waitFor()
  await hasFocus(page.locator('[name=password]'))
  await page.fill('[name=password]', 'correct-horse')
  await page.getByRole('button', { name: /Continue to payment/ }).click()
  await pay(page, '4242 4242 4242 4242')
  await page.getByRole('heading', { name: 'Your Team plan is ready' }).waitFor()
  await check(page, 'details')
  await page.fill('[name=legal_name]', 'Buyer & Sons Ltd')
  await page.fill('[name=address]', '1 Test Street')
  await page.fill('[name=postal_code]', '1010')
  await page.fill('[name=city]', 'Vienna')
  await page.selectOption('[name=country]', 'AT')
  await page.getByRole('button', { name: /Finish/ }).click()
  await page.waitForURL(`${service.base}/`)
  await page.locator('.nav-head', { hasText: 'Buyer & Sons' }).waitFor()
})

test('a closed tab keeps the plan, the seats and the entries', { skip }, async (t) => {
  const closed = await visit(t, browser, service.base)
  await closed.goto('/onboarding?plan=team&currency=EUR')
  await closed.getByLabel('Add a seat').click()
  await closed.fill('[name=name]', 'Clara Closed')
  await closed.fill('[name=email]', 'clara@closed.test')
  await closed.fill('[name=password]', 'correct-horse')
  const page = await closed.context().newPage()
  await closed.close()
  await page.goto(`${service.base}/onboarding`)
  await page.locator('[name=email]').waitFor()
  assert.equal(await page.inputValue('[name=email]'), 'clara@closed.test')
  assert.equal(await page.inputValue('[name=name]'), 'Clara Closed')
  assert.equal(await page.inputValue('[name=password]'), '', 'a password is not stored')
  assert.equal(await page.getByLabel('Seats', { exact: true }).inputValue(), '2')
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByRole('heading', { name: 'Choose a plan' }).waitFor()
  await page.getByRole('button', { name: 'Try Team' }).click()
  await page.getByLabel('Seats', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('Seats', { exact: true }).inputValue(), '2', 'another look at the plans keeps the seats')
})

test('an address with an account leads to the sign-in', { skip }, async (t) => {
  await register(service.base, 'Tina Taken', 'tina@taken.test', 'Taken')
  const page = await visit(t, browser, service.base, { expect: ['422 /api/v1/auth/register'] })
  await page.goto('/register')
  await page.getByRole('link', { name: 'Continue with sandbox' }).waitFor()
  await page.fill('[name=name]', 'Tina Taken')
  await page.fill('[name=email]', 'tina@taken.test')
  await page.fill('[name=password]', 'correct-horse')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('link', { name: 'Sign in instead' }).click()
  await page.waitForURL(/sign-in\?next=%2Fonboarding/)
})

test('a payment that is left and one that is declined lose nothing, in Italian on a phone', { skip }, async (t) => {
  const page = await visit(t, browser, service.base, { width: 390, locale: 'it-IT', expect: ['402 /sandbox/checkout/*'] })
  await page.goto('/onboarding?plan=starter&currency=EUR')
  await page.fill('[name=name]', 'Bruno Prova')
  await page.fill('[name=email]', 'bruno@prova.test')
  await page.fill('[name=password]', 'correct-horse')
  await page.click('button[type=submit]')
  await page.waitForSelector('form#pay')
  await page.click('#cancel')
  await page.getByText('Nessun addebito').waitFor()
  await check(page, 'the payment that was left')
  await page.locator('.btn.primary').click()
  await pay(page, '4000 0000 0000 0002')
  await page.locator('#error').waitFor()
  await pay(page, '4242 4242 4242 4242')
  await page.waitForSelector('[name=legal_name]')
  await check(page, 'details')
})

test('an invitation is accepted with a new account, in French on a phone', { skip }, async (t) => {
  const owner = await register(service.base, 'Olga Owner', 'olga@host.test', 'Host')
  await call(service.base, 'POST', `/api/v1/tenant/${owner.tenant}/team/invitations`, { email: 'guest@host.test', role: 'member' }, owner.token)
  const link = await mailLink(service.base, 'guest@host.test', /invitations/)
  const page = await visit(t, browser, service.base, { width: 390, locale: 'fr-FR' })
  await page.goto(link)
  await page.getByRole('heading', { name: /Host/ }).waitFor()
  await check(page, 'invitation')
  await page.fill('[name=name]', 'Gus Guest')
  await page.fill('[name=password]', 'correct-horse')
  await page.click('button[type=submit]')
  await page.waitForURL(`${service.base}/`)
  await page.goto(link)
  await page.getByText('Cette invitation n’est plus valable').waitFor()
})

test('a forgotten password is set anew by the link of a mail', { skip }, async (t) => {
  await register(service.base, 'Fay Forgets', 'fay@forgets.test', 'Forgets')
  const page = await visit(t, browser, service.base, { theme: 'dark', expect: ['401 /api/v1/auth/login', '422 /api/v1/auth/login'] })
  await page.goto('/sign-in')
  await check(page, 'sign in')
  await enterPassword(page, { email: 'fay@forgets.test', password: 'not-the-right-one' })
  await page.getByText('Incorrect email or password').first().waitFor()
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  await page.fill('[name=email]', 'fay@forgets.test')
  await page.getByRole('button', { name: 'Send link' }).click()
  await page.getByText('Check your email').waitFor()
  await page.goto(await mailLink(service.base, 'fay@forgets.test', /reset-password/))
  await check(page, 'new password')
  await page.fill('[name=password]', 'another-horse')
  await page.getByRole('button', { name: 'Save password' }).click()
  await page.getByText('Your new password is saved').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await enterPassword(page, { email: 'fay@forgets.test', password: 'another-horse' })
  await page.waitForURL(`${service.base}/`)
})

test('signing in never leads to another site', { skip }, async (t) => {
  const owner = await register(service.base, 'Rae Redirected', 'rae@redirect.test', 'Redirected')
  for (const next of ['https://evil.test/', '//evil.test/', '/\\evil.test/', 'javascript:alert(1)']) {
    const page = await visit(t, browser, service.base)
    await page.goto(`/sign-in?next=${encodeURIComponent(next)}`)
    await enterPassword(page, owner)
    await page.locator('.nav-head', { hasText: 'Redirected' }).waitFor()
    assert.equal(new URL(page.url()).origin, service.base)
  }
})

for (const width of [1280, 390]) {
  test(`a login at an identity provider, ${width === 390 ? 'on the page itself' : 'in a popup'}`, { skip }, async (t) => {
    const page = await visit(t, browser, service.base, { width })
    await page.goto('/sign-in')
    const button = page.getByRole('link', { name: 'Continue with sandbox' })
    const [at] = width === 390 ? [page, await button.click()] : await Promise.all([page.waitForEvent('popup'), button.click()])
    await at.waitForSelector('form#consent')
    await at.fill('[name=email]', `delegated${width}@idp.test`)
    await at.fill('[name=name]', 'Dora Delegates')
    await at.click('form#consent button')
    await page.waitForURL(`${service.base}/onboarding`)
  })
}

test('without password logins, the pages for passwords lead to the sign-in page', { skip }, async (t) => {
  const codes = await startService({ TENANTRY_LOGIN_METHODS: 'email_code,passkey' })
  const page = await visit(t, browser, codes.base, { expect: ['401 /api/v1/auth/me'] })
  t.after(() => codes.stop()) // after the page has been closed
  for (const path of ['/forgot-password', '/reset-password?token=x&email=a@b.test']) {
    await page.goto(path)
    await page.getByRole('heading', { name: 'Passwords are not used here' }).waitFor()
    await check(page, path)
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await page.waitForURL(`${codes.base}/sign-in`)
  }
})

test('the pages that need no login pass axe in both themes', { skip }, async (t) => {
  for (const theme of ['light', 'dark']) {
    // The sign-in page asks for passkey options, which sets the cookie by which the pages after it expect a session.
    const expect = ['401 /api/v1/auth/me', '404 /api/v1/invitations/*', '422 /api/v1/invitations/*']
    const page = await visit(t, browser, service.base, { theme, expect })
    for (const path of ['/sign-in', '/register', '/forgot-password', '/reset-password?token=x&email=a@b.test', '/verify-email?token=x', '/invitations/none', '/pricing', '/onboarding']) {
      await page.goto(path)
      await check(page, `${path} ${theme}`)
    }
  }
})
