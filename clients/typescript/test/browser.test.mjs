// The client in Chromium, on a page of another origin than the service.
import assert from 'node:assert/strict'
import { build } from 'esbuild'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { startSandbox } from '../../testing/dist/index.js'
import { startProxy } from './world.mjs'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const required = (process.env.TENANTRY_TEST_REQUIRE ?? '').split(',').includes('chromium')
const skip = existsSync(executablePath) || required ? false : `there is no ${executablePath}`

let sandbox, site, browser
before(async () => {
  if (skip) return
  const bundle = async (contents) => {
    const resolveDir = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
    const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, format: 'esm', write: false })
    return `<!doctype html><meta charset="utf-8"><title>Frontend</title><link rel="icon" href="data:,"><button>Log in</button><output></output><script type="module">${outputFiles[0].text}</script>`
  }
  const page = await bundle(`
    import * as t from './dist/index.js'
    Object.assign(window, t)
    const key = 'tokens'
    window.sharedStore = {get: () => JSON.parse(localStorage.getItem(key)), set: (to) => localStorage.setItem(key, JSON.stringify(to))}
    window.button = (tenantry) => document.querySelector('button').onclick = () => {
      const said = document.querySelector('output')
      said.textContent = ''
      t.logInAt(tenantry, 'sandbox').then((login) => said.textContent = 'in: ' + login.user.email, (refusal) => said.textContent = 'failed: ' + refusal.message)
    }
    window.loaded = true`)
  const callback = await bundle(`
    import {finishPopup} from './dist/index.js'
    if (localStorage.getItem('cut')) Object.defineProperty(window, 'opener', {value: null})
    finishPopup().then((end) => document.title = JSON.stringify(end))`)
  const pages = { '/': page, '/oauth/callback': callback }
  // The site has to be there before the service, which leads to it, and the service before the site, which passes on to it.
  const target = {}
  site = await startProxy(() => target.url, pages)
  sandbox = await startSandbox({ settings: { TENANTRY_FRONTEND_URL: site.url } })
  target.url = sandbox.url
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
  browser = await chromium.launch({ executablePath, args })
})
after(async () => {
  await browser?.close()
  await site?.close()
  await sandbox?.stop()
})

async function open(t) {
  const context = await browser.newContext()
  t.after(() => context.close())
  const tab = async () => {
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    await page.goto(site.url)
    await page.waitForFunction('window.loaded')
    return page
  }
  return { context, tab, page: await tab() }
}

const withCookies = (page) => page.evaluate((baseUrl) => void (window.api = createClient({ baseUrl, auth: cookies() })), sandbox.url)
const withTokens = (page) => page.evaluate(() => void (window.api = createClient({ baseUrl: '', auth: tokens(sharedStore) })))
const whoIsIt = (page) => page.evaluate(() => api.GET('/api/v1/auth/me').then((me) => me.user.email, (error) => `${error.status} ${error.code}`))
const logIn = (page, { email, password }) =>
  page.evaluate((body) => api.POST('/api/v1/auth/login', { body }).then((login) => login.accessToken ?? 'no token', (error) => `${error.status} ${error.code}`), { email, password })

test('cookies: log in, change something, log out', { skip }, async (t) => {
  const owner = await sandbox.createOwner()
  const { page, tab } = await open(t)
  await withCookies(page)
  assert.equal(await logIn(page, { ...owner, password: 'wrong' }), '401 INVALID_CREDENTIALS')
  assert.equal(await logIn(page, owner), 'no token')
  assert.equal(await whoIsIt(page), owner.email)
  const rename = (on, name) => on.evaluate((to) => api.PATCH('/api/v1/user', { body: { name: to } }).then(({ data }) => data.name, (error) => Object.keys(error.fields).join()), name)
  assert.equal(await rename(page, 'Ada King'), 'Ada King')
  assert.equal(await rename(page, ''), 'name')

  // Another tab logs out and in again: the token of this one is of a session that is over.
  const other = await tab()
  await withCookies(other)
  assert.equal(await other.evaluate(() => api.POST('/api/v1/auth/logout').then((answer) => answer.message)), 'auth.logged_out')
  assert.equal(await logIn(other, owner), 'no token')
  assert.equal(await rename(page, 'Ada Byron'), 'Ada Byron')
  assert.equal(await other.evaluate(() => api.POST('/api/v1/auth/logout').then((answer) => answer.message)), 'auth.logged_out')
  assert.equal(await whoIsIt(page), '401 undefined')
})

test('cookies: writes at once fetch one CSRF token', { skip }, async (t) => {
  const owner = await sandbox.createOwner()
  const { page } = await open(t)
  await withCookies(page)
  await logIn(page, owner)
  let asked = 0
  page.on('request', (request) => (asked += request.url().endsWith('/csrf-cookie') ? 1 : 0))
  const names = await page.evaluate(() => Promise.all(['A', 'B', 'C'].map((name) => api.PATCH('/api/v1/user', { body: { name } }).then(({ data }) => data.name))))
  assert.deepEqual(names, ['A', 'B', 'C'])
  assert.equal(asked, 1)
})

test('tokens: tabs that share a store make one refresh', { skip }, async (t) => {
  const owner = await sandbox.createOwner()
  const { page, tab } = await open(t)
  const tabs = [page, await tab(), await tab(), await tab()]
  for (const one of tabs) await withTokens(one)
  assert.match(await logIn(page, owner), /^[\w-]{20,}$/)
  assert.equal(await whoIsIt(tabs[1]), owner.email)
  await sandbox.advance('20m')
  site.seen.length = 0
  const emails = await Promise.all(tabs.flatMap((one) => [whoIsIt(one), whoIsIt(one)]))
  assert.deepEqual(new Set(emails), new Set([owner.email]))
  assert.equal(site.seen.filter((one) => one.includes('/auth/refresh')).length, 1)
  await page.evaluate(() => api.POST('/api/v1/auth/logout'))
  assert.equal(await whoIsIt(tabs[2]), '401 undefined')
  assert.equal(await page.evaluate(() => sharedStore.get()), null)
})

for (const [mode, begin] of Object.entries({ cookies: withCookies, tokens: withTokens })) {
  for (const cut of [false, true]) {
    test(`${mode}: a login in a popup${cut ? ' that has lost its opener' : ''}`, { skip }, async (t) => {
      const { page, context } = await open(t)
      await begin(page)
      await page.evaluate((cut) => (cut ? localStorage.setItem('cut', 'yes') : localStorage.removeItem('cut'), button(api)), cut)
      const attempt = async (choice) => {
        const [popup] = await Promise.all([context.waitForEvent('page'), page.click('button')])
        await popup.fill('#email', 'guest@example.test')
        const closed = popup.waitForEvent('close')
        await popup.click(`button[value=${choice}]`)
        await closed
        await page.waitForFunction(() => document.querySelector('output').textContent !== '')
        return page.textContent('output')
      }
      assert.equal(await attempt('deny'), 'failed: access_denied')
      assert.equal(await attempt('allow'), 'in: guest@example.test')
      assert.equal(await whoIsIt(page), 'guest@example.test')
    })
  }
}

test('a callback page that nobody waits for has the code for itself, and not in its address', { skip }, async (t) => {
  const { page } = await open(t)
  await page.goto(`${site.url}/oauth/callback?code=abc`)
  await page.waitForFunction(() => document.title.startsWith('{'))
  assert.deepEqual(JSON.parse(await page.title()), { told: false, code: 'abc' })
  assert.equal(page.url(), `${site.url}/oauth/callback`)
})

test('a blocked popup and one that is given up are errors', { skip }, async (t) => {
  const { page, context } = await open(t)
  await withCookies(page)
  assert.equal(await page.evaluate(() => ((window.open = () => null), logInAt(api, 'sandbox').catch((error) => error.code))), 'popup_blocked')
  await page.reload()
  await page.waitForFunction('window.loaded')
  await withCookies(page)
  await page.evaluate(() => {
    window.stop = new AbortController()
    document.querySelector('button').onclick = () => (window.result = logInAt(api, 'sandbox', { signal: stop.signal }).catch((error) => error.name))
  })
  const [popup] = await Promise.all([context.waitForEvent('page'), page.click('button')])
  await popup.waitForLoadState()
  const closed = popup.waitForEvent('close')
  assert.equal(await page.evaluate(() => (stop.abort(), result)), 'AbortError')
  await closed
})
