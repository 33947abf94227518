import type { Send } from './send.js'

/** How a client proves who calls: cookies(), tokens() or apiKey(). */
export interface Auth {
  /** Sends a request with the credential, renewing it where that is needed. */
  fetch(request: Request, send: Send, baseUrl: string): Promise<Response>
}

/** Calls as a program, with an API key. For servers: whoever has the key can use it. */
export function apiKey(key: string): Auth {
  return {
    fetch(request, send) {
      request.headers.set('Authorization', `Bearer ${key}`)
      return send(request)
    },
  }
}

/** Calls as nobody: the public part of the API. */
export function nobody(): Auth {
  return { fetch: (request, send) => send(request) }
}

/** Returns the path of a request below the service's address. */
export function pathOf(request: Request, baseUrl: string): string {
  const base = new URL(baseUrl, request.url).pathname.replace(/\/$/, '')
  const { pathname } = new URL(request.url)
  return pathname.startsWith(base + '/') ? pathname.slice(base.length) : pathname
}

/** Waits for a promise that others wait for too, until the signal ends this waiting. */
export function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}
