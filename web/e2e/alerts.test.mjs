// Push alerts: the states of the profile page, and how the service worker handles a message. The
// browser's push service is a stand-in, because the real one needs a network.
import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { call, check, hasBrowser, register, signIn, startBrowser, startService, visit, waitFor } from './world.mjs'

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

const subscriptionsOf = (owner) => call(service.base, 'GET', '/api/v1/push-subscriptions', undefined, owner.token).then(({ data }) => data)

/** Subscribes the page's browser at a push service that does not exist. */
async function standIn(page, endpoint) {
  const ecdh = createECDH('prime256v1')
  const keys = { p256dh: ecdh.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') }
  await page.addInitScript(({ endpoint, keys }) => {
    const made = () => localStorage.getItem('subscribed') && {
      endpoint, toJSON: () => ({ endpoint, keys }), unsubscribe: async () => (localStorage.removeItem('subscribed'), true),
    }
    PushManager.prototype.getSubscription = async () => made() || null
    PushManager.prototype.subscribe = async (options) => {
      if (!options.userVisibleOnly || !options.applicationServerKey) throw new TypeError('not as browsers want it')
      localStorage.setItem('subscribed', 'yes')
      return made()
    }
  }, { endpoint, keys })
}

test('alerts are turned on, shown, followed and turned off', { skip }, async (t) => {
  const owner = await register(service.base, 'Ali Alerts', 'ali@alerts.test', 'Alerts', { slug: 'starter' })
  const endpoint = 'https://push.alerts.test/send/1'
  const page = await visit(t, browser, service.base)
  await page.context().grantPermissions(['notifications'], { origin: service.base })
  await standIn(page, endpoint)
  await signIn(page, owner)
  await page.goto('/profile')
  await page.getByRole('button', { name: 'Turn alerts on' }).click()
  await page.getByText('On in this browser', { exact: true }).waitFor()
  await check(page, 'alerts are on')
  assert.deepEqual((await subscriptionsOf(owner)).map((one) => one.endpoint), [endpoint])

  const cdp = await page.context().newCDPSession(page)
  const registered = new Promise((then) => cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations[0] && then(registrations[0].registrationId)))
  await cdp.send('ServiceWorker.enable')
  const data = JSON.stringify({ title: 'Limit near', body: '80% of the calls are used', tag: 'quota-calls', url: `${service.base}/billing` })
  const registrationId = await registered
  const worker = page.context().serviceWorkers()[0] ?? await page.context().waitForEvent('serviceworker')
  const shown = await waitFor(async () => {
    // The browser may drop a message while the worker starts. The tag makes repeated messages one
    // alert.
    await cdp.send('ServiceWorker.deliverPushMessage', { origin: service.base, registrationId, data })
    await page.waitForTimeout(300)
    return worker.evaluate(async () => {
      const [one] = await self.registration.getNotifications()
      return one && { title: one.title, body: one.body, tag: one.tag }
    })
  })
  assert.deepEqual(shown, { title: 'Limit near', body: '80% of the calls are used', tag: 'quota-calls' })

  await worker.evaluate(async () => {
    const [notification] = await self.registration.getNotifications()
    self.dispatchEvent(new NotificationEvent('notificationclick', { notification }))
  })
  await page.waitForURL(`${service.base}/plan`)

  await page.goto('/profile')
  await page.getByRole('button', { name: 'Turn alerts off' }).click()
  await page.getByText('Off in this browser', { exact: true }).waitFor()
  assert.deepEqual(await subscriptionsOf(owner), [])
})

test('signing out ends the alerts of this browser, and only of this one', { skip }, async (t) => {
  const owner = await register(service.base, 'Sol Signs', 'sol@alerts.test', 'Signs')
  const other = { endpoint: 'https://push.alerts.test/send/other', keys: { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: randomBytes(16).toString('base64url') } }
  await call(service.base, 'POST', '/api/v1/push-subscriptions', other, owner.token)
  const page = await visit(t, browser, service.base, { width: 390, locale: 'es-ES', theme: 'dark', expect: ['401 /api/v1/auth/me'] })
  await page.context().grantPermissions(['notifications'], { origin: service.base })
  await standIn(page, 'https://push.alerts.test/send/2')
  await signIn(page, owner)
  await page.goto('/profile')
  await page.getByRole('button', { name: 'Activar avisos' }).click()
  await page.getByText('Activados en este navegador', { exact: true }).waitFor()
  await page.getByText('Activados también en otro navegador').waitFor()
  await check(page, 'alerts in two browsers')
  assert.equal((await subscriptionsOf(owner)).length, 2)
  await page.getByRole('button', { name: /Sol Signs/ }).click()
  await page.getByRole('menuitem', { name: 'Cerrar sesión' }).click()
  await page.waitForURL(/\/sign-in/)
  const again = await call(service.base, 'POST', '/api/v1/auth/login', { email: owner.email, password: owner.password })
  assert.deepEqual((await subscriptionsOf({ token: again.accessToken })).map((one) => one.endpoint), [other.endpoint])
})

test('a browser that was told not to, and one that cannot, say so', { skip }, async (t) => {
  const owner = await register(service.base, 'Nan Never', 'nan@alerts.test', 'Never')
  for (const [words, script] of [
    ['Alerts are blocked in this browser', () => Object.defineProperty(Notification, 'permission', { get: () => 'denied' })],
    ['This browser cannot show alerts', () => delete window.PushManager],
  ]) {
    const page = await visit(t, browser, service.base, { theme: 'dark' })
    await page.addInitScript(script)
    await signIn(page, owner)
    await page.goto('/profile')
    await page.getByText(words).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Turn alerts on' }).count(), 0)
    await check(page, words)
  }
})
