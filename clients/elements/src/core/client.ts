import type { components } from '../../../../web/src/api/schema'

/** A schema of the API by its name. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** What the service refused, or that it could not be reached (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The code to act on, where there is one. */
    readonly code?: string,
    /** The messages of each field, by its name in the request. */
    readonly fields: Record<string, string[]> = {},
    /** The whole answer, for what a code brings with it. */
    readonly body: Record<string, unknown> = {},
    /** After how many seconds another attempt makes sense. */
    readonly retryAfter?: number,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

type Token = string | null | undefined

/** Returns an access token. After a refusal it is asked again, with refused set. */
export type GetToken = (refused: boolean) => Token | Promise<Token>

/** What a client takes from its element. */
export interface Settings {
  /** The service's address, without a slash at its end. */
  base: string
  locale: string
  getToken?: GetToken
}

/** The token against forged requests, by the service's address. */
const csrf = new Map<string, string | null>()

function cookieToken(): string | undefined {
  return document.cookie.split('; ').find((one) => one.startsWith('XSRF-TOKEN='))
}

/** The renewal that is under way, at the function that makes it: the elements of a page share it, as a refresh token works once. */
const renewing = Symbol.for('tenantry.renewing')

/** Returns a token in place of one that was refused. */
async function renew(getToken: GetToken & { [renewing]?: Promise<Token> }, refused: Token): Promise<Token> {
  const token = await getToken(false)
  if (token !== refused) return token
  return (getToken[renewing] ??= Promise.resolve(getToken(true)).finally(() => { delete getToken[renewing] }))
}

/** Speaks with the service: with a token where the page gives one, else with the login's cookie. */
export class Client {
  constructor(private readonly settings: () => Settings) {}

  /** Reports whether somebody may be signed in. On the service's own origin a session has a cookie beside it. */
  mayHaveLogin(): boolean {
    const { base, getToken } = this.settings()
    return !!getToken || new URL(base).origin !== location.origin || !!cookieToken()
  }

  get<T>(path: string): Promise<T> {
    return this.call<T>('GET', path)
  }

  /** Returns a document. */
  async file(path: string): Promise<Blob> {
    const response = await this.send('GET', path)
    if (!response.ok) throw new ApiError(response.status, response.statusText)
    return response.blob()
  }

  /** Sends a request below /api/v1 and returns the answer. Refusals are thrown as ApiError. */
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await this.send(method, path, body)
    if (response.status === 204) return undefined as T
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>
    if (response.ok) return answer as T
    const text = (key: string) => (typeof answer[key] === 'string' ? answer[key] : undefined)
    const after = Number(response.headers.get('Retry-After'))
    throw new ApiError(
      response.status, text('message') ?? response.statusText, text('code'), (answer.errors as Record<string, string[]> | undefined) ?? {},
      answer, after > 0 ? after : undefined,
    )
  }

  private async send(method: string, path: string, body?: object): Promise<Response> {
    const { getToken } = this.settings()
    try {
      const token = getToken && (await getToken(false))
      const response = await this.attempt(method, path, body, token, false)
      // The token changes with the session, an access token ends: either is asked for again, once.
      if (response.status === 419 && !getToken) return await this.attempt(method, path, body, token, true)
      if (response.status === 401 && getToken) return await this.attempt(method, path, body, await renew(getToken, token), false)
      return response
    } catch (error) {
      if (error instanceof ApiError) throw error
      throw new ApiError(0, 'offline', 'offline')
    }
  }

  private async attempt(method: string, path: string, body: object | undefined, token: Token, again: boolean): Promise<Response> {
    const { base, locale, getToken } = this.settings()
    const headers: Record<string, string> = { 'Accept-Language': locale }
    if (body) headers['Content-Type'] = 'application/json'
    if (token) headers.Authorization = `Bearer ${token}`
    else if (method !== 'GET' && !getToken) headers['X-XSRF-TOKEN'] = (await this.csrfToken(again)) ?? ''
    return this.fetch(`${base}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
  }

  private fetch(url: string, init: RequestInit): Promise<Response> {
    // The service knows a page of its frontend by the origin, also where the page tells no referrer.
    return fetch(url, { ...init, credentials: this.settings().getToken ? 'omit' : 'include', referrerPolicy: 'strict-origin-when-cross-origin' })
  }

  private async csrfToken(again: boolean): Promise<string | null> {
    const { base } = this.settings()
    // A login on this page changes the cookie, and with it the token.
    const key = `${base} ${cookieToken() ?? ''}`
    if (again || !csrf.get(key)) {
      const response = await this.fetch(`${base}/csrf-cookie`, {})
      csrf.set(`${base} ${cookieToken() ?? ''}`, response.headers.get('X-CSRF-Token'))
    }
    return csrf.get(`${base} ${cookieToken() ?? ''}`) ?? null
  }
}
