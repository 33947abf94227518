// The code that the documentation shows: the compiler accepts it, and in Chromium it does what it says.
import assert from 'node:assert/strict'
import { build } from 'esbuild'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { startSandbox } from '../../testing/dist/index.js'
import { startProxy } from './world.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const read = (name) => readFileSync(path.resolve(here, '../../../docs', name), 'utf8')
const blocks = (text, language) => [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter((found) => found[1] === language).map((found) => found[2])

test('the compiler accepts what docs/typescript.md, docs/testing.md and docs/verify-tokens.md show', () => {
  const folder = path.join(here, '.docs')
  mkdirSync(folder, { recursive: true })
  try {
    // What the examples take for granted.
    writeFileSync(path.join(folder, 'free.d.ts'), `
      declare const tenantry: import('../../dist/index.js').Tenantry
      declare const sandbox: import('../../../testing/dist/index.js').Sandbox
      declare const owner: import('../../../testing/dist/index.js').Owner
      declare const key: string, tenantId: string, since: string
      declare const button: HTMLButtonElement
      declare function show(what: unknown): void
      declare function showBilling(): void`)
    const found = [...blocks(read('typescript.md'), 'ts'), ...blocks(read('testing.md'), 'ts'), ...blocks(read('verify-tokens.md'), 'ts')]
    assert.ok(found.length >= 9, `only ${found.length} blocks`)
    found.forEach((code, i) => writeFileSync(path.join(folder, `${i}.mts`), code))
    const paths = { '@tenantry/client': ['../../dist/index.d.ts'], '@tenantry/testing': ['../../../testing/dist/index.d.ts'] }
    const compilerOptions = { target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom', 'esnext.disposable'], strict: true, noEmit: true, skipLibCheck: true, types: ['node'], typeRoots: ['../../node_modules/@types'], paths }
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts', 'free.d.ts'] }))
    execFileSync(path.resolve(here, '../node_modules/.bin/tsc'), ['-p', folder], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })
  } catch (error) {
    assert.fail(error.stdout || error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the test that docs/testing.md shows passes', async () => {
  const folder = path.join(here, '.shown')
  mkdirSync(folder, { recursive: true })
  try {
    const [shown] = blocks(read('testing.md'), 'ts')
    const contents = shown.replace('http://127.0.0.1:3000', 'http://127.0.0.1:1') // nothing has to listen there
    const alias = { '@tenantry/testing': path.resolve(here, '../../testing/dist/index.js') }
    const outfile = path.join(folder, 'shown.test.mjs')
    await build({ stdin: { contents, resolveDir: here, loader: 'ts' }, bundle: true, platform: 'node', format: 'esm', alias, outfile, logLevel: 'silent' })
    const env = { ...process.env }
    delete env.NODE_TEST_CONTEXT // a run of its own, not a part of this one
    const told = execFileSync(process.execPath, ['--test', '--test-reporter=tap', outfile], { encoding: 'utf8', env })
    assert.match(told, /^# pass 1$/m)
    assert.match(told, /^# fail 0$/m)
  } catch (error) {
    assert.fail(error.stdout || error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the first program of docs/typescript.md records an event', async (t) => {
  const sandbox = await startSandbox()
  t.after(() => sandbox.stop())
  const owner = await sandbox.createOwner()
  const folder = path.join(here, '.first')
  mkdirSync(folder, { recursive: true })
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [contents] = blocks(read('typescript.md'), 'js')
  const alias = { '@tenantry/client': path.resolve(here, '../dist/index.js') }
  const outfile = path.join(folder, 'meter.mjs')
  await build({ stdin: { contents, resolveDir: here }, bundle: true, platform: 'node', format: 'esm', alias, outfile, logLevel: 'silent' })
  const env = { ...process.env, TENANTRY_URL: sandbox.url, TENANTRY_KEY: await sandbox.createApiKey(['usage.write']), TENANT: owner.tenantId }
  const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env })
  assert.equal(stdout, 'recorded\n')
})

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const required = (process.env.TENANTRY_TEST_REQUIRE ?? '').split(',').includes('chromium')
const skip = existsSync(executablePath) || required ? false : `there is no ${executablePath}`

test('what docs/frontend.md shows of the package logs in and out', { skip }, async (t) => {
  const section = read('frontend.md').split('## Use the TypeScript client\n')[1].split('\n## ')[0]
  const [withCookies, withTokens, popup, callback] = blocks(section, 'js')
  const functions = withCookies.slice(withCookies.indexOf('const logIn'))
  const address = "'https://api.example.com'"
  const page = async (code) => {
    const contents = code.replace(address, "new URLSearchParams(location.search).get('api')")
    const alias = { '@tenantry/client': path.resolve(here, '../dist/index.js') }
    const { outputFiles } = await build({ stdin: { contents, resolveDir: here }, bundle: true, format: 'esm', alias, write: false })
    return `<!doctype html><meta charset="utf-8"><title>Frontend</title><link rel="icon" href="data:,"><button>Log in</button><output></output><script type="module">${outputFiles[0].text}</script>`
  }
  const used = `
    Object.assign(window, {logIn, whoIsIt, logOut, loaded: true})
    document.querySelector('button').onclick = () => logInAtProvider('sandbox').then((login) => document.querySelector('output').textContent = login.user.email)`
  const target = {}
  const site = await startProxy(() => target.url, {
    '/cookies': await page(withCookies + popup + used),
    '/tokens': await page(withTokens + functions + popup + used),
    '/oauth/callback': await page(callback),
  })
  t.after(() => site.close())
  const sandbox = await startSandbox({ settings: { TENANTRY_FRONTEND_URL: site.url } })
  target.url = sandbox.url
  t.after(() => sandbox.stop())
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] })
  t.after(() => browser.close())
  for (const [mode, api] of Object.entries({ cookies: sandbox.url, tokens: site.url })) {
    const owner = await sandbox.createOwner()
    const context = await browser.newContext()
    const tab = await context.newPage()
    await tab.goto(`${site.url}/${mode}?api=${encodeURIComponent(api)}`)
    await tab.waitForFunction('window.loaded')
    const who = () => tab.evaluate(() => whoIsIt().then((me) => me.user.email, (error) => error.status))
    assert.equal(await who(), 401, mode)
    const login = await tab.evaluate(([email, password]) => logIn(email, password), [owner.email, owner.password])
    assert.equal(login.accessToken !== undefined, mode === 'tokens')
    assert.equal(await who(), owner.email, mode)
    await tab.evaluate(() => logOut())
    assert.equal(await who(), 401, mode)
    const [window] = await Promise.all([context.waitForEvent('page'), tab.click('button')])
    await window.fill('#email', 'guest@example.test')
    await window.click('button[value=allow]')
    await tab.waitForFunction(() => document.querySelector('output').textContent === 'guest@example.test')
    await context.close()
  }
})
