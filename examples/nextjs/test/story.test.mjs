// The stories of two customers, in Chromium: the first signs up with the default plan, uses the product and is refused
// over the quota; the second signs up with a paid plan and pays.
import { startSandbox } from '@tenantry/testing'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const folder = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const required = (process.env.TENANTRY_TEST_REQUIRE ?? '').split(',').includes('chromium')
const skip = existsSync(executablePath) || required ? false : `there is no ${executablePath}`

let sandbox, product, browser, url
before(async () => {
  if (skip) return
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  sandbox = await startSandbox({ settings: { TENANTRY_FRONTEND_URL: url } })
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', TENANTRY_URL: sandbox.url, TENANTRY_API_KEY: await sandbox.createApiKey(['usage.write']) }
  product = spawn(process.execPath, ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', String(port)], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] })
  for (let i = 0; !(await fetch(url).then((response) => response.ok, () => false)); i++) {
    if (i > 150 || product.exitCode !== null) throw new Error('the product did not start')
    await new Promise((then) => setTimeout(then, 200))
  }
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
  browser = await chromium.launch({ executablePath, args })
})
after(async () => {
  await browser?.close()
  product?.kill()
  await sandbox?.stop()
})

test('a customer signs up for free, uses the product and is refused over the quota; another one pays', { skip }, async (t) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  t.after(() => context.close())
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const troubles = []
  page.on('pageerror', (error) => troubles.push(String(error)))
  page.on('console', (message) => {
    // Refusals are part of the story.
    if (message.type() === 'error' && !/status of (401|422)/.test(message.text())) troubles.push(message.text())
  })
  const elsewhere = []
  page.on('request', (request) => new URL(request.url()).hostname !== '127.0.0.1' && elsewhere.push(request.url()))

  await page.goto(url)
  const signUp = async (email, plan) => {
    await page.fill('#sign-up [name=name]', 'Ada Lovelace')
    await page.fill('#sign-up [name=email]', email)
    await page.fill('#sign-up [name=password]', 'correct horse')
    await page.selectOption('#sign-up [name=plan]', plan)
    await page.click('#sign-up button')
  }
  await signUp('owner@acme.test', 'free')
  await page.waitForFunction(() => /taken|exists|already/i.test(document.querySelector('[role=alert]').textContent))

  await signUp('ada@example.test', 'free')
  const used = async (text) => page.waitForFunction((wanted) => document.querySelector('#used')?.textContent === wanted, text)
  await used('0 of 100 letters used')

  const shout = async (text) => {
    await page.fill('[name=text]', text)
    await page.click('form button')
  }
  await shout('hello')
  await page.waitForFunction(() => document.querySelector('output').textContent === 'HELLO')
  await used('5 of 100 letters used')
  await shout('a'.repeat(96))
  await page.waitForFunction(() => document.querySelector('[role=alert]').textContent.includes('no letters left'))
  await used('5 of 100 letters used')
  await shout('a'.repeat(95))
  await used('100 of 100 letters used')

  await page.click('text=Log out')
  await page.waitForSelector('#log-in')
  await page.fill('#log-in [name=email]', 'ada@example.test')
  await page.fill('#log-in [name=password]', 'wrong horse')
  await page.click('#log-in button')
  await page.waitForFunction(() => document.querySelector('[role=alert]').textContent.length > 0)
  await page.fill('#log-in [name=password]', 'correct horse')
  await page.click('#log-in button')
  await used('100 of 100 letters used')

  // A month later the login is over, and there are letters again.
  await sandbox.advance('768h')
  await page.goto(url)
  await page.fill('#log-in [name=email]', 'ada@example.test')
  await page.fill('#log-in [name=password]', 'correct horse')
  await page.click('#log-in button')
  await used('0 of 100 letters used')

  await page.click('text=Log out')
  await page.waitForSelector('#sign-up')
  await signUp('grace@example.test', 'starter')
  await page.waitForURL(/\/sandbox\/checkout\//)
  await page.fill('[name=card_number]', '4242424242424242')
  await page.click('main form button[type=submit], main form button:not([type])')
  await page.waitForURL(`${url}/onboarding/success*`)
  for (const [field, value] of Object.entries({ legal_name: 'Example', address: '1 Test Street', postal_code: '1010', city: 'Vienna', country: 'AT' })) {
    await page.fill(`[name=${field}]`, value)
  }
  await page.click('button')
  await used('0 of 1000 letters used')
  assert.deepEqual(troubles, [])
  assert.deepEqual(elsewhere, [])
})
