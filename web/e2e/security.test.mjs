// Profile → Security, Settings → Sign-in, and the platform's reset of factors.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { call, check, hasBrowser, joins, mailLink, register, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

const skip = !hasBrowser()
let service, browser, site

before(async () => {
  if (skip) return
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  // Passkeys of a loopback address belong to localhost.
  site = service.base.replace('127.0.0.1', 'localhost')
})
after(async () => {
  await browser?.close()
  await service?.stop()
})

/** Computes the code of an authenticator app. A code of each step works once. */
function totp(secret, stepsAhead = 0) {
  const bits = [...secret.replace(/\s/g, '')].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + stepsAhead))
  const mac = createHmac('sha1', Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))).update(step).digest()
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** Verifies the address of an account: only such accounts can add factors. */
async function verify({ email, token }) {
  await call(service.base, 'POST', '/api/v1/user/email/verification', undefined, token)
  const link = new URL(await mailLink(service.base, email, /verify-email/))
  await call(service.base, 'POST', '/api/v1/auth/verify-email', { token: link.searchParams.get('token') })
}

/** Adds an authenticator app through the API. */
async function addTotp({ password, token }) {
  const { data: { secret } } = await call(service.base, 'POST', '/api/v1/user/factors/totp', { current_password: password }, token)
  await call(service.base, 'POST', '/api/v1/user/factors/totp/confirm', { code: totp(secret) }, token)
}

/** Gives the browser an authenticator that confirms every prompt, like a phone that is unlocked. */
async function giveAuthenticator(page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  })
}

const factorsOf = async (owner) => (await call(service.base, 'GET', '/api/v1/user/factors', undefined, owner.token)).data

/** Checks a page at both widths. */
async function checkWidths(page, what) {
  await check(page, what)
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 844 })
  await check(page, `${what} at 390 px`)
  await page.setViewportSize(size)
}

test('an authenticator app and a passkey are added, renamed and removed', { skip }, async (t) => {
  const owner = await register(service.base, 'Sara Secure', 'sara@secure.test', 'Secure')
  const page = await visit(t, browser, site, { expect: ['422 /api/v1/user/factors/totp'] })
  await giveAuthenticator(page)
  await signIn(page, owner)
  await page.goto('/profile/security')
  await page.getByText('Verify your email before you add a second factor.').waitFor()
  assert.ok(await page.getByRole('button', { name: 'Set up' }).isDisabled())
  await verify(owner)
  await page.reload()
  await checkWidths(page, 'security without factors')
  await page.getByRole('button', { name: 'Set up' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('[name=current_password]').fill('wrong')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.locator('.field:has([name=current_password]) .error').waitFor()
  await check(page, 'a wrong password')
  await dialog.locator('[name=current_password]').fill(owner.password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const secret = await dialog.locator('.totp-key').innerText()
  await checkWidths(page, 'an authenticator app')
  await dialog.locator('[name=code]').fill(totp(secret))
  await dialog.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  assert.equal(await dialog.locator('.codes li').count(), 10)
  await checkWidths(page, 'recovery codes')
  await dialog.getByRole('checkbox').check()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('10 of 10 left').waitFor()

  await page.getByRole('button', { name: 'Add passkey' }).click()
  await dialog.locator('[name=current_password]').fill(owner.password)
  await checkWidths(page, 'confirming with a password and a code')
  await dialog.locator('[name=code]').fill(totp(secret, 1))
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByLabel('Name').fill('Phone')
  await dialog.getByRole('button', { name: 'Save passkey' }).click()
  await page.getByRole('row', { name: /Phone/ }).waitFor()
  await page.getByRole('button', { name: 'Rename or remove Phone' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.locator('.passkeys [name=name]').fill('A phone with a name that does not fit into one line of a narrow window')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: /narrow window/ }).waitFor()
  await checkWidths(page, 'security with factors')

  await page.getByRole('button', { name: 'Remove authenticator app' }).click()
  await dialog.locator('[name=current_password]').fill(owner.password)
  await dialog.getByRole('button', { name: 'Use a passkey' }).click()
  await dialog.getByRole('button', { name: 'Remove authenticator' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { totp: app, passkeys, mfa_enabled: enabled } = await factorsOf(owner)
  assert.deepEqual([app, passkeys.length, enabled], [null, 1, true])
})

test('a session is signed out', { skip }, async (t) => {
  const owner = await register(service.base, 'Siri Sessions', 'siri@secure.test', 'Sessions')
  const page = await visit(t, browser, service.base, { width: 390, theme: 'dark' })
  await signIn(page, owner)
  await page.goto('/profile/security')
  await page.getByText('2 sessions').waitFor()
  await page.getByRole('button', { name: /^Sign out (?!other)/ }).click()
  await page.getByText('You’re signed in only here.').waitFor()
})

test('a domain is verified, and single sign-on is connected, tested, used and required', { skip }, async (t) => {
  const owner = await register(service.base, 'Olga Oidc', 'olga@sso-story.test', 'Single & Sign', { slug: 'starter' })
  const member = await joins(service.base, owner, 'Mia Member', 'mia@sso-story.test')
  const page = await visit(t, browser, service.base, { expect: ['422 /api/v1/tenant/*'] })
  await signIn(page, owner)
  await page.goto('/settings')
  await page.getByRole('main').getByRole('link', { name: 'Sign-in' }).click()
  await page.getByText('Verify your first domain to set up SSO.').waitFor()
  await checkWidths(page, 'sign-in settings')
  await page.fill('[name=domain]', 'sso-story.test')
  await page.getByRole('button', { name: 'Add domain' }).click()
  const row = page.locator('.domains > li', { hasText: 'sso-story.test' })
  await row.getByRole('button', { name: 'Check now' }).click()
  await row.getByRole('alert').waitFor()
  await checkWidths(page, 'a pending domain')
  const [name, value] = await row.locator('code').allInnerTexts()
  await call(service.base, 'PUT', '/sandbox/dns', { name, values: [value] })
  await row.getByRole('button', { name: 'Check now' }).click()
  await row.getByText('Verified', { exact: true }).waitFor()
  await row.getByRole('switch').check({ force: true })
  await row.getByRole('button', { name: 'Save' }).click()
  await row.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })

  const save = page.getByRole('button', { name: 'Save connection' })
  await page.fill('[name=issuer]', `${service.base}/sandbox/nothing`)
  await page.fill('[name=client_id]', 'tenantry')
  await page.fill('[name=client_secret]', 'sandbox-secret')
  await save.click()
  await page.locator('.field:has([name=issuer]) .error').waitFor()
  await checkWidths(page, 'an issuer that cannot be read')
  await page.fill('[name=issuer]', `${service.base}/sandbox/idp/story`)
  await save.click()
  const [tab] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Test sign-in' }).click()])
  await tab.fill('[name=email]', owner.email)
  await tab.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The test succeeded').waitFor()
  await checkWidths(page, 'a test that succeeded')

  await page.getByRole('link', { name: 'Sign in with SSO' }).click()
  await page.fill('[name=email]', owner.email)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.locator('.nav-head', { hasText: 'Single & Sign' }).waitFor()
  await page.goto('/settings/sign-in')
  await page.getByText('This affects 1 of 2 members').waitFor()
  await checkWidths(page, 'requiring single sign-on')
  await page.getByRole('button', { name: 'Require SSO for 1 member' }).click()
  await page.getByRole('button', { name: 'Stop requiring SSO' }).waitFor()
  await assert.rejects(call(service.base, 'GET', '/api/v1/tenant', undefined, member.token), /SSO_REQUIRED/)

  await page.getByRole('button', { name: 'Disconnect SSO' }).click()
  await page.getByRole('dialog').locator('[name=typed_name]').fill('Single & Sign')
  await check(page, 'disconnecting single sign-on')
})

test('a team has to use a second factor', { skip }, async (t) => {
  const owner = await register(service.base, 'Rosa Requires', 'rosa@required.test', 'Required', { slug: 'starter' })
  await joins(service.base, owner, 'Maximiliana Wiesinger-Breitenbach', 'maximiliana.wiesinger-breitenbach@holzbau-sankt-poelten.test')
  const page = await visit(t, browser, service.base)
  await signIn(page, owner)
  await page.goto('/settings/sign-in')
  await page.getByText('Set up your own second factor first').waitFor()
  await verify(owner)
  await addTotp(owner)
  await page.reload()
  await page.getByText('1 of 2 members lacks a second factor').waitFor()
  await page.getByRole('switch', { name: 'Require a second factor' }).check({ force: true })
  await page.getByText('Loses access').waitFor()
  await checkWidths(page, 'before the requirement')
  await page.getByRole('button', { name: 'Save requirement' }).click()
  await waitFor(async () => (await call(service.base, 'GET', '/api/v1/tenant', undefined, owner.token)).data.require_mfa)
  await page.goto('/team')
  await page.getByRole('columnheader', { name: 'MFA' }).waitFor()
  await checkWidths(page, 'the team with its factors')
})

test('members who do not manage sign-in see no controls, and the platform resets factors', { skip }, async (t) => {
  const owner = await register(service.base, 'Ole Owner', 'ole@reset.test', 'Resets', { slug: 'starter' })
  const member = await joins(service.base, owner, 'Lost Phone', 'lost@reset.test')
  await addTotp(member)
  const page = await visit(t, browser, service.base)
  await signIn(page, { email: 'admin@tenantry.test', password: 'sandbox-admin' })
  await page.goto(`/platform/tenants/${owner.tenant}/people`)
  const row = page.getByRole('row', { name: /Lost Phone/ })
  await row.getByText('On', { exact: true }).waitFor()
  await checkWidths(page, 'the people of a tenant')
  await row.getByRole('button').last().click()
  await page.getByRole('menuitem', { name: 'Reset factors' }).click()
  await page.getByRole('dialog').waitFor()
  await check(page, 'resetting factors')
  await page.getByRole('dialog').getByRole('button', { name: 'Reset factors' }).click()
  await row.getByText('Off', { exact: true }).waitFor()
  const visitor = await visit(t, browser, service.base, { width: 390, theme: 'dark', locale: 'it-IT' })
  await signIn(visitor, member)
  await visitor.goto('/settings/sign-in')
  await visitor.locator('.lockline').nth(1).waitFor()
  await check(visitor, 'sign-in settings of a member')
  await row.getByRole('button').last().click()
  await page.getByRole('menuitem', { name: 'Make owner' }).click()
  await page.getByRole('dialog').waitFor()
  await check(page, 'a new owner')
  await page.getByRole('dialog').getByRole('button', { name: 'Make owner' }).click()
  await page.getByText(`Lost Phone is now the owner of Resets.`).waitFor()
  await row.getByText('Owner', { exact: true }).waitFor()
  await page.getByRole('row', { name: /Ole Owner/ }).getByText('Admin', { exact: true }).waitFor()
})
