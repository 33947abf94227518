import { pathOf, until, type Auth } from './auth.js'
import { refused } from './error.js'
import type { Send } from './send.js'

/** What a login gives. */
export interface Tokens {
  accessToken: string
  /** Works once: it is exchanged for a new pair. */
  refreshToken: string
}

/** Where tokens are kept: the keychain of a phone, a file of mode 600, the session of a server. */
export interface TokenStore {
  get(): Tokens | null | Promise<Tokens | null>
  /** Keeps new tokens; null after a logout, or when the login has ended. */
  set(tokens: Tokens | null): void | Promise<void>
}

/** Keeps tokens until the page is left or the program ends. */
export function memoryStore(tokens: Tokens | null = null): TokenStore {
  return {
    get: () => tokens,
    set: (to) => {
      tokens = to
    },
  }
}

/**
 * Calls with the tokens of a login, which are taken from the answers of logging in and registering,
 * and given up at the logout. A call that finds the access token expired renews it and is repeated.
 * However many calls wait, one renewal is made, because a refresh token that is used twice looks
 * stolen: browsers agree on it across tabs that share a store.
 */
export function tokens(store: TokenStore = memoryStore()): Auth {
  return {
    async fetch(request, send, baseUrl) {
      const path = pathOf(request, baseUrl)
      if (request.method === 'POST' && givesTokens.test(path)) {
        const response = await send(request)
        if (response.ok) await keep(response, store)
        return response
      }
      const held = await store.get()
      let response: Response
      try {
        response = await send(signed(request.clone(), held))
        if (response.status === 401 && held) {
          const fresh = await until(renew(held, store, send, baseUrl), request.signal)
          if (!fresh) return response
          await response.body?.cancel()
          response = await send(signed(request, fresh))
        }
      } finally {
        if (request.method === 'POST' && path === '/api/v1/auth/logout') await store.set(null)
      }
      return response
    },
  }
}

const givesTokens =
  /^\/api\/v1\/(auth\/(login|register|refresh|oauth\/exchange)|onboarding\/start|invitations\/[^/]+\/accept-with-registration)$/

function signed(request: Request, held: Tokens | null): Request {
  if (held) request.headers.set('Authorization', `Bearer ${held.accessToken}`)
  return request
}

/** Takes the tokens out of an answer. Accepting an invitation has them in `meta` and in snake case. */
async function keep(response: Response, store: TokenStore): Promise<Tokens | null> {
  const body = (await response.clone().json()) as Partial<Tokens> & { meta?: { access_token?: string; refresh_token?: string } }
  const accessToken = body.accessToken ?? body.meta?.access_token
  const refreshToken = body.refreshToken ?? body.meta?.refresh_token
  if (!accessToken || !refreshToken) return null // cookie mode: the service took the page for a first-party one
  const found = { accessToken, refreshToken }
  await store.set(found)
  return found
}

/** The renewals of this program by their refresh token, kept for a while for calls that come late with it. */
const renewals = new Map<string, Promise<Tokens | null>>()
const keptFor = 60_000

/** Exchanges the refresh token, once. Returns null where somebody has logged out meanwhile. */
async function renew(used: Tokens, store: TokenStore, send: Send, baseUrl: string): Promise<Tokens | null> {
  const name = `${baseUrl} ${used.refreshToken}`
  const known = renewals.get(name)
  if (known) {
    const fresh = await known
    // Another store of this program may still have the old pair, such as the session of a second request.
    const now = fresh && (await store.get())
    if (now && now.refreshToken === used.refreshToken) await store.set(fresh)
    return fresh
  }
  const renewal = alone(name, used, store, async () => {
    const body = JSON.stringify({ refresh_token: used.refreshToken })
    const headers = { 'Content-Type': 'application/json' }
    const response = await send(new Request(`${baseUrl}/api/v1/auth/refresh`, { method: 'POST', headers, body }))
    if (response.ok) return keep(response, store)
    if (response.status === 401) await store.set(null)
    throw refused(response, await response.json().catch(() => undefined))
  })
  renewals.set(name, renewal)
  const forget = () => {
    if (renewals.get(name) === renewal) renewals.delete(name)
  }
  renewal.then(() => {
    void pause(keptFor, true).then(forget)
  }, forget)
  return renewal
}

/** For how many milliseconds the other tabs are kept away after new tokens are stored: localStorage reaches them a little later. */
const settling = 1000

/** Renews the tokens, unless that has happened meanwhile: here, or in another tab where the browser can tell. */
async function alone(name: string, used: Tokens, store: TokenStore, exchange: () => Promise<Tokens | null>): Promise<Tokens | null> {
  const locks = globalThis.navigator?.locks as LockManager | undefined
  const lock = locks && (await lockName(name))
  for (;;) {
    const now = await store.get()
    if (!now || now.accessToken !== used.accessToken) return now
    if (!locks || !lock) return exchange()
    const renewed = await ifFree(locks, lock, exchange)
    if (renewed) return renewed.tokens
    await pause(25)
  }
}

/** Runs an exchange unless another tab does; undefined then. */
function ifFree(locks: LockManager, name: string, exchange: () => Promise<Tokens | null>): Promise<{ tokens: Tokens | null } | undefined> {
  return new Promise((resolve, reject) => {
    const hold = async (lock: Lock | null) => {
      if (!lock) return resolve(undefined)
      resolve({ tokens: await exchange() })
      await pause(settling, true)
    }
    locks.request(name, { ifAvailable: true }, hold).catch(reject)
  })
}

/** Returns a name that every script of the origin may see. */
async function lockName(name: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(name)))
  return `tenantry-refresh-${Array.from(hash.subarray(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Waits; a program whose work is done may end before. */
function pause(milliseconds: number, idle = false): Promise<void> {
  return new Promise((resolve) => {
    const timer: unknown = setTimeout(resolve, milliseconds)
    if (idle && typeof timer === 'object') (timer as { unref?: () => void }).unref?.()
  })
}
