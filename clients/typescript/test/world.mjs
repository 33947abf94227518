// What the tests share: a way to the service on which answers get lost or are refused.
import { createServer, request as send } from 'node:http'

/** Listens on a free port of this machine; returns the server and its URL. */
export async function listen(handler) {
  const server = createServer(handler)
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${server.address().port}`
  return { url, close: () => new Promise((done) => (server.close(done), server.closeAllConnections())) }
}

/**
 * Passes requests on to the service without Origin and Referer, so that a page behind it is in token mode. mishaps
 * is what happens to the next requests: `{before: status}` refuses one, `{after: status}` loses its
 * answer, `{cut: true}` closes the connection after the service has answered, `{hang: true}` never
 * answers, and `undefined` leaves it alone. seen lists what came, as `METHOD path`. pages are served
 * by the proxy itself.
 */
export async function startProxy(target, pages = {}) {
  const mishaps = []
  const seen = []
  const { url, close } = await listen((incoming, outgoing) => {
    const page = pages[incoming.url.split('?')[0]]
    if (page) return outgoing.setHeader('Content-Type', 'text/html; charset=utf-8').end(page)
    seen.push(`${incoming.method} ${incoming.url}`)
    const mishap = mishaps.shift() ?? {}
    const refuse = (status) => {
      outgoing.writeHead(status, { 'Content-Type': 'application/json', ...mishap.headers })
      outgoing.end(JSON.stringify(mishap.body ?? { message: `mishap ${status}` }))
    }
    if (mishap.hang) return
    if (mishap.before) return refuse(mishap.before)
    const { origin, referer, host, ...headers } = incoming.headers
    const onward = send((typeof target === 'function' ? target() : target) + incoming.url, { method: incoming.method, headers }, (answer) => {
      if (mishap.after || mishap.cut) {
        answer.resume().on('end', () => (mishap.cut ? outgoing.destroy() : refuse(mishap.after)))
        return
      }
      outgoing.writeHead(answer.statusCode, answer.headers)
      if (mishap.half) {
        answer.once('data', (text) => outgoing.write(text.subarray(0, 10), () => outgoing.destroy()))
        return
      }
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  return { url, close, mishaps, seen }
}
