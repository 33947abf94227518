import { retryAfter, unanswered } from './error.js'

/** Sends a request and returns the answer, whatever its status; fails with a TenantryError without one. */
export type Send = (request: Request) => Promise<Response>

/** How requests are sent. */
export interface SendOptions {
  /** Sends one request; globalThis.fetch by default. */
  fetch?: ((request: Request, init?: RequestInit) => Promise<Response>) | undefined
  /** For how many milliseconds an attempt may take, with reading its answer: 30,000 by default, 0 for ever. */
  timeout?: number | undefined
  /** How often a request is repeated at most: 2 by default, 0 for never. */
  retries?: number | undefined
  /** The longest pause before a repetition, in milliseconds: 10,000 by default. */
  maxPause?: number | undefined
}

/** Returns what sends requests with a time-out, and repeats those that can be repeated. */
export function sender({ fetch, timeout = 30_000, retries = 2, maxPause = 10_000 }: SendOptions): Send {
  const once = async (request: Request): Promise<Response> => {
    const init = timeout > 0 ? { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]) } : {}
    try {
      return await (fetch ?? globalThis.fetch)(request, init)
    } catch (error) {
      throw request.signal.aborted ? error : unanswered(error)
    }
  }
  return async (request) => {
    const safe = await canRepeat(request)
    for (let left = retries; ; left--) {
      let response: Response | undefined
      let failure: unknown
      try {
        response = await once(left > 0 ? request.clone() : request)
      } catch (error) {
        if (left === 0 || !safe || request.signal.aborted) throw error
        failure = error
      }
      if (response && (left === 0 || !(await isPassing(response, safe)))) return response
      const pause = pauseBefore(retries - left, response && retryAfter(response), maxPause)
      if (pause === undefined) {
        if (response) return response
        throw failure
      }
      await response?.body?.cancel()
      await sleep(pause, request.signal)
    }
  }
}

/** Reports whether a refusal may pass by itself and repeating the request does nothing twice. */
async function isPassing(response: Response, safe: boolean): Promise<boolean> {
  if (response.status === 429) {
    // A rate limit refuses before anything happens, so that any request can be repeated. A quota is
    // no matter of seconds.
    return response.headers.has('Retry-After') && (await codeOf(response)) === undefined
  }
  return safe && [502, 503, 504].includes(response.status)
}

async function codeOf(response: Response): Promise<unknown> {
  const body: unknown = await response.clone().json().catch(() => undefined)
  return (body as { code?: unknown } | undefined)?.code
}

/** Reports whether a request that may have been carried out can be sent again. */
async function canRepeat(request: Request): Promise<boolean> {
  if (request.method === 'GET' || request.method === 'HEAD') return true
  if (request.method !== 'POST' || !/\/usage(\/batch)?$/.test(new URL(request.url).pathname)) return false
  const body = (await request.clone().json().catch(() => ({}))) as { events?: unknown[] }
  const events = Array.isArray(body.events) ? body.events : [body]
  return events.every((event) => Boolean((event as { idempotency_key?: unknown } | null)?.idempotency_key))
}

/** Returns the milliseconds to wait before a repetition, a part of them by chance; undefined where it is too long. */
function pauseBefore(attempt: number, after: number | undefined, longest: number): number | undefined {
  if (after !== undefined) {
    const asked = after * 1000
    return asked > longest ? undefined : asked + Math.random() * 250
  }
  return Math.min(longest, 250 * 2 ** attempt) * (0.5 + Math.random() / 2)
}

/** Waits, and fails when the signal ends the waiting. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', end, { once: true })
  })
}
