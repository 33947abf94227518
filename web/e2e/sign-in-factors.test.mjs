// Signing in with passkeys, second factors, recovery codes and SSO.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { advance, call, check, enterPassword, hasBrowser, hasFocus, joins, mailLink, register, startBrowser, startService, visit } from './world.mjs'

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
function totp(secret, stepsAhead = 0, at = Date.now()) {
  const bits = [...secret.replace(/\s/g, '')].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(at / 30_000) + stepsAhead))
  const mac = createHmac('sha1', key).update(step).digest()
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** Registers an account and verifies its address: only such accounts can add factors. */
async function verified(name, email, organization) {
  const owner = await register(service.base, name, email, organization, { slug: 'starter' })
  await verify(owner)
  return owner
}

async function verify({ email, token }) {
  await call(service.base, 'POST', '/api/v1/user/email/verification', undefined, token)
  const link = new URL(await mailLink(service.base, email, /verify-email/))
  await call(service.base, 'POST', '/api/v1/auth/verify-email', { token: link.searchParams.get('token') })
}

/** Adds an authenticator app through the API. Returns its secret and the recovery codes. */
async function addTotp(owner) {
  const { data: { secret } } = await call(service.base, 'POST', '/api/v1/user/factors/totp', { current_password: owner.password }, owner.token)
  const { data: { now } } = await call(service.base, 'GET', '/sandbox/clock')
  const code = totp(secret, 0, new Date(now).getTime())
  const { data: { recovery_codes: codes } } = await call(service.base, 'POST', '/api/v1/user/factors/totp/confirm', { code }, owner.token)
  return { secret, codes }
}

/** Gives the browser an authenticator that confirms every prompt, like a phone that is unlocked. */
async function giveAuthenticator(page, verifies = true) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: verifies, isUserVerified: verifies, automaticPresenceSimulation: true },
  })
}

/** Adds a passkey of the page's authenticator to an account. */
async function addPasskey(page, owner) {
  await page.goto('/forgot-password')
  return page.evaluate(async ({ token, password, code }) => {
    const post = async (path, body) => {
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
      return (await fetch(`/api/v1/user/${path}`, { method: 'POST', headers, body: JSON.stringify(body), credentials: 'omit' })).json()
    }
    const { data: { challenge_id, options } } = await post('passkeys/options', { current_password: password, code })
    const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    return post('passkeys', { challenge_id, name: 'Test phone', credential: credential.toJSON() })
  }, owner)
}

// On a phone the name is hidden.
const atHome = (page, name) => page.locator('.nav-head', { hasText: name }).waitFor({ state: 'attached' })

test('a passkey signs in without an email', { skip }, async (t) => {
  const owner = await verified('Pia Passkey', 'pia@factors.test', 'Passkeys')
  const page = await visit(t, browser, site)
  await giveAuthenticator(page)
  await addPasskey(page, owner)
  // The browser offers the passkey in the email field, and the authenticator confirms it.
  await page.goto('/sign-in')
  await atHome(page, 'Passkeys')
  await page.addInitScript(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await atHome(page, 'Passkeys')
  await page.goto('/sign-in')
  await page.locator('.btn', { hasText: 'Sign in with a passkey' }).locator('.tag', { hasText: 'Last used' }).waitFor()
})

test('a prompt that is closed leads to the email', { skip }, async (t) => {
  const page = await visit(t, browser, site, { theme: 'dark' })
  await page.goto('/sign-in')
  await page.evaluate(() => { navigator.credentials.get = async () => { throw new DOMException('closed', 'NotAllowedError') } })
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('No passkey was used').waitFor()
  await page.getByRole('button', { name: 'Try a passkey again' }).waitFor()
  await check(page, 'no passkey was used')
})

test('a password and a code of the app sign in', { skip }, async (t) => {
  const owner = await verified('Ada App', 'ada@factors.test', 'Apps')
  const { secret } = await addTotp(owner)
  const page = await visit(t, browser, service.base, { expect: ['403 /api/v1/auth/login', '401 /api/v1/auth/mfa'] })
  await page.goto('/team')
  await page.fill('input[name=email]', owner.email)
  await page.click('button[type=submit]')
  await page.locator('input[name=password]').waitFor()
  await check(page, 'the password')
  await page.goBack()
  assert.equal(await page.inputValue('input[name=email]'), owner.email, 'back returns to the email')
  await enterPassword(page, owner)
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await check(page, 'the code')
  const code = page.getByLabel('6-digit code')
  await page.getByRole('button', { name: 'Verify code' }).click()
  await page.getByText('Enter the code.').waitFor()
  await code.pressSequentially('000 000')
  await page.getByText('That code is incorrect or was already used').waitFor()
  assert.equal(await code.inputValue(), '')
  await hasFocus(code)
  await check(page, 'a wrong code')
  await code.pressSequentially(totp(secret, 1))
  await page.waitForURL(`${service.base}/team`)
})

test('a lost phone: a recovery code signs in, in Italian on a phone', { skip }, async (t) => {
  const owner = await verified('Leo Lost', 'leo@factors.test', 'Lost phones')
  const { codes } = await addTotp(owner)
  const page = await visit(t, browser, service.base, { width: 390, locale: 'it-IT', theme: 'dark', expect: ['403 /api/v1/auth/login', '401 /api/v1/auth/mfa'] })
  await page.goto('/sign-in')
  await enterPassword(page, owner)
  await page.getByRole('button', { name: 'Prova un altro metodo' }).click()
  await check(page, 'other ways')
  await page.getByRole('button', { name: /Codice di recupero/ }).click()
  await check(page, 'a recovery code')
  await page.fill('[name=recovery_code]', 'AAAAA-AAAAA')
  await page.click('button[type=submit]')
  await page.locator('.field .error').waitFor()
  await page.fill('[name=recovery_code]', codes[0].toLowerCase().replace('-', ''))
  await page.click('button[type=submit]')
  await atHome(page, 'Lost phones')
})

test('a passkey completes a login, and a slow login begins again', { skip }, async (t) => {
  const owner = await verified('Sam Slow', 'sam@factors.test', 'Slow')
  const { secret } = await addTotp(owner)
  const page = await visit(t, browser, site, { expect: ['403 /api/v1/auth/login', '400 /api/v1/auth/mfa'] })
  await giveAuthenticator(page)
  await addPasskey(page, { ...owner, code: totp(secret, 1) })
  await page.addInitScript(() => { PublicKeyCredential.isConditionalMediationAvailable = async () => false })
  await page.goto('/sign-in')
  await enterPassword(page, owner)
  await page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
  await check(page, 'the passkey as second factor')
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await atHome(page, 'Slow')
  await page.goto('/sign-in')
  await enterPassword(page, owner)
  await page.getByRole('button', { name: 'Try another way' }).click()
  await page.getByRole('button', { name: /Authenticator app/ }).click()
  await advance(service.base, '6m')
  await page.getByLabel('6-digit code').pressSequentially('123456')
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
  await check(page, 'an expired login')
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.locator('input[name=email]').waitFor()
})

test('an organization requires a factor: an app, then recovery codes', { skip }, async (t) => {
  const owner = await verified('Olga Owner', 'olga@required.test', 'Required')
  const member = await joins(service.base, owner, 'Max Member', 'max@required.test')
  await addTotp(owner)
  await call(service.base, 'PATCH', '/api/v1/tenant', { require_mfa: true }, owner.token)
  const page = await visit(t, browser, service.base, { expect: ['403 *', '422 *'] })
  await page.goto('/team')
  await enterPassword(page, member)
  await page.getByRole('heading', { name: 'Set up two-factor authentication' }).waitFor()
  await page.getByText('Required requires a second factor').waitFor()
  await check(page, 'the choice of a factor')
  await page.getByRole('button', { name: /Authenticator app/ }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  await check(page, 'the set-up of an app')
  const secret = await page.locator('.totp-key').textContent()
  await page.getByLabel('6-digit code').pressSequentially('000000')
  await page.getByText('Check that your phone sets its time automatically').waitFor()
  const { data: { now } } = await call(service.base, 'GET', '/sandbox/clock')
  await page.getByLabel('6-digit code').fill(totp(secret, 0, new Date(now).getTime()))
  await page.getByRole('button', { name: 'Turn on authenticator' }).click()
  await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
  await check(page, 'the recovery codes')
  assert.equal(await page.locator('.codes li').count(), 10)
  const goOn = page.getByRole('button', { name: 'Continue to Required' })
  assert.ok(await goOn.isDisabled())
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()])
  assert.match(file.suggestedFilename(), /-recovery-codes\.txt$/)
  await goOn.click()
  await page.waitForURL(`${service.base}/team`)
  await atHome(page, 'Required')
})

test('an organization requires a factor: a passkey, in French on a phone', { skip }, async (t) => {
  const owner = await verified('Odo Owner', 'odo@enroll.test', 'Enroll')
  const member = await joins(service.base, owner, 'Mia Member', 'mia@enroll.test')
  await addTotp(owner)
  await call(service.base, 'PATCH', '/api/v1/tenant', { require_mfa: true }, owner.token)
  const page = await visit(t, browser, site, { width: 390, locale: 'fr-FR', expect: ['403 *', '422 *'] })
  await giveAuthenticator(page)
  await page.goto('/sign-in')
  await enterPassword(page, member)
  await page.getByRole('button', { name: /Clé d’accès/ }).click()
  await page.getByRole('heading', { name: 'Enregistrez vos codes' }).waitFor()
  await check(page, 'the recovery codes')
  await page.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Continuer vers Enroll' }).click()
  await atHome(page, 'Enroll')
})
