// Webhook deliveries: a failed one is found, understood and sent again, by the platform and by a
// tenant.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
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

/** Starts an application that answers events with a status and a body, and counts them. */
async function receiver(t) {
  const app = { status: 410, body: '{"error":"gone for good","trace":"b7c1-44f0"}', events: [] }
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (part) => (text += part))
    request.on('end', () => {
      app.events.push(text)
      response.writeHead(app.status, { 'Content-Type': 'application/json', Server: 'ledger/2.8', 'Set-Cookie': 'secret=1' }).end(app.body)
    })
  })
  await new Promise((then) => server.listen(0, '127.0.0.1', then))
  t.after(() => new Promise((then) => { server.closeAllConnections(); server.close(then) }))
  app.url = `http://127.0.0.1:${server.address().port}/events`
  return app
}

test('a tenant sees why a delivery failed, enables the endpoint and sends it again', { skip }, async (t) => {
  const app = await receiver(t)
  const owner = await register(service.base, 'Dora Delivers', 'dora@delivery.test', 'Deliveries')
  const hooks = `/api/v1/tenant/${owner.tenant}/webhook-endpoints`
  const { data: endpoint } = await call(service.base, 'POST', hooks, { url: app.url, events: ['*'] }, owner.token)
  await call(service.base, 'POST', `${hooks}/${endpoint.id}/test`, undefined, owner.token)
  await waitFor(async () => (await call(service.base, 'GET', `${hooks}/${endpoint.id}/deliveries`, undefined, owner.token)).data.some((one) => one.status === 'failed'))
  for (const look of [{ width: 390, theme: 'dark', locale: 'fr-FR' }, { width: 1280 }]) {
    const page = await visit(t, browser, service.base, look)
    await signIn(page, owner)
    await page.goto(`/developers/webhooks/${endpoint.id}`)
    await page.getByRole('link', { name: 'webhook.test' }).click()
    await page.getByText('410 Gone').first().waitFor()
    await page.getByText('"gone for good"').waitFor()
    await check(page, `a failed delivery at ${look.width} px`)
    if (look.width < 700) continue
    await page.getByText('Response headers').click()
    await page.getByRole('row', { name: /server/ }).getByText('ledger/2.8').waitFor()
    assert.equal(await page.getByText('secret=1').count(), 0)
    await page.getByText('This endpoint is disabled because it returned 410.').waitFor()
    app.status = 200
    await page.getByRole('button', { name: 'Enable endpoint' }).click()
    await page.getByText('This endpoint is disabled').waitFor({ state: 'detached' })
    await page.keyboard.press('r')
    await page.getByText('Delivered', { exact: true }).first().waitFor()
    await page.getByText('Response to attempt 2').waitFor()
    await page.getByRole('button', { name: 'Attempt 1' }).click()
    await page.getByText('Response to attempt 1').waitFor()
    await page.getByRole('button', { name: 'Raw' }).last().click()
    await page.getByText(app.events[0]).waitFor()
    assert.equal(app.events[1], app.events[0])
  }
})

test('the platform finds a failed delivery of any tenant and sends it again', { skip }, async (t) => {
  const app = await receiver(t)
  app.status = 200
  const owner = await register(service.base, 'Fay Fails', 'fay@delivery.test', 'Failing Ltd')
  const hooks = `/api/v1/tenant/${owner.tenant}/webhook-endpoints`
  const { data: endpoint } = await call(service.base, 'POST', hooks, { url: app.url, events: ['*'] }, owner.token)
  const sent = async (count, status) => waitFor(async () => (await call(service.base, 'GET', `${hooks}/${endpoint.id}/deliveries?status=${status}`, undefined, owner.token)).data.length >= count)
  for (const count of [1, 2]) {
    await call(service.base, 'POST', `${hooks}/${endpoint.id}/test`, undefined, owner.token)
    await sent(count, 'delivered')
  }
  app.status = 410
  await call(service.base, 'POST', `${hooks}/${endpoint.id}/test`, undefined, owner.token)
  await sent(1, 'failed')
  await call(service.base, 'PATCH', `${hooks}/${endpoint.id}`, { enabled: true }, owner.token)
  app.status = 200
  const page = await visit(t, browser, service.base)
  await signIn(page, admin)
  await page.goto('/platform/developers')
  await page.getByRole('link', { name: 'Deliveries' }).click()
  const list = page.getByRole('region', { name: 'Deliveries' })
  await list.getByText('Failing Ltd').first().waitFor()
  await check(page, 'the deliveries of all tenants')
  // J and K step through the list, and the focus follows.
  const first = await list.locator('[aria-current=true]').getAttribute('href')
  const path = () => new URL(page.url()).pathname
  await page.keyboard.press('j')
  await page.waitForURL(() => /deliveries\/[0-9a-f-]+$/.test(path()) && path() !== first)
  await page.keyboard.press('k')
  await page.waitForURL(() => path() === first)
  // A key that is pressed before the list is loaded counts too.
  await page.route((url) => url.href.includes('webhook-deliveries%3F') || url.pathname.endsWith('/webhook-deliveries'), async (route) => {
    await page.keyboard.press('j')
    await route.continue()
  }, { times: 1 })
  await page.reload()
  await page.waitForURL(() => path() !== first)
  await list.getByRole('group', { name: 'Show' }).getByRole('link', { name: 'Failed' }).click()
  await page.waitForURL(/status=failed/)
  await list.locator('.dv').getByRole('link').filter({ hasText: 'Failing Ltd' }).filter({ hasText: 'Failed' }).click()
  await page.getByRole('heading', { name: 'Response to attempt 1' }).waitFor()
  await page.getByText('410 Gone').first().waitFor()
  await page.getByRole('button', { name: 'Resend event' }).click()
  await page.getByRole('article').getByText('Delivered', { exact: true }).first().waitFor()
  await list.getByText('Failing Ltd').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Failing Ltd' }).waitFor()
  const phone = await visit(t, browser, service.base, { width: 390, theme: 'dark', locale: 'it-IT' })
  await signIn(phone, admin)
  await phone.goto('/platform/developers/deliveries')
  await phone.getByText('200 OK').first().waitFor()
  await check(phone, 'the deliveries on a phone in Italian')
})
