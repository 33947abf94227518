// Measures how a page of the console loads with a slow phone on a slow 4G network.
import { waitFor } from './world.mjs'

/** A slow 4G network: bytes per second and milliseconds. */
const slow4G = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }
const cpuSlowdown = 4

/** Records long tasks, layout shifts and the time at which the content is there. */
function watch(ready) {
  window.load = { tasks: [], shift: 0, shifts: [], ready: undefined }
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.load.tasks.push([one.startTime, one.startTime + one.duration])
  }).observe({ type: 'longtask', buffered: true })
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) {
      if (one.hadRecentInput) continue
      window.load.shift += one.value
      window.load.shifts.push(`${one.value.toFixed(3)} ${one.sources.map(({ node }) => node?.outerHTML?.slice(0, 80)).join(' | ')}`)
    }
  }).observe({ type: 'layout-shift', buffered: true })
  const look = () => {
    if (document.querySelector(ready)) window.load.ready = performance.now()
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

/** Keeps the sandbox bar, which production does not have, out of the page. */
async function withoutSandbox(page, path) {
  await page.route((url) => url.pathname === path, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace('<meta name="sandbox" content="on" />', '') })
  })
}

/**
 * Loads a path with an empty cache. selector finds the content. The page is interactive once
 * the content is there and the last long task before it, or within half a second after it, has
 * ended. Returns the milliseconds until then, and the layout shift. Also returns the requests of the
 * first view, and the bytes that they transferred: the console loads its font once the view is complete.
 */
export async function measure(context, path, selector) {
  const page = await context.newPage()
  await withoutSandbox(page, path)
  const client = await context.newCDPSession(page)
  const requests = new Map()
  let start
  client.on('Network.requestWillBeSent', ({ requestId, request, timestamp, type }) => {
    start ??= timestamp
    if (request.url.startsWith('data:')) return
    requests.set(requestId, { at: (timestamp - start) * 1000, path: new URL(request.url).pathname, type, bytes: 0 })
  })
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength, timestamp }) => {
    const one = requests.get(requestId)
    if (one) Object.assign(one, { bytes: encodedDataLength, done: (timestamp - start) * 1000 })
  })
  await client.send('Network.enable')
  await client.send('Network.emulateNetworkConditions', slow4G)
  await client.send('Emulation.setCPUThrottlingRate', { rate: cpuSlowdown })
  await page.addInitScript(watch, selector)
  await page.goto(path)
  await page.waitForFunction(() => window.load.ready !== undefined && performance.now() > window.load.ready + 1500, undefined, { timeout: 60_000 })
  const isFont = ({ path }) => /\/fonts-[^/]*\.css$/.test(path)
  await waitFor(() => [...requests.values()].some(isFont), 'the font')
  const { tasks, shift, shifts, ready } = await page.evaluate(() => window.load)
  await page.close()
  const interactive = Math.max(ready, ...tasks.filter(([from]) => from < ready + 500).map(([, to]) => to))
  const all = [...requests.values()]
  const font = all.findIndex(isFont)
  const until = all.filter(({ at }, i) => i < font || at <= ready)
  return {
    interactive: Math.round(interactive),
    requests: until.length,
    scripts: until.filter(({ type }) => type === 'Script').length,
    calls: until.filter(({ path }) => path.startsWith('/api/')).length,
    bytes: until.reduce((sum, { bytes }) => sum + bytes, 0),
    shift, shifts, list: until.map((one) => `${Math.round(one.at)}-${Math.round(one.done)} ${one.bytes} ${one.path}`),
  }
}
