import createFetchClient, { type Middleware } from 'openapi-fetch'
import createClient from 'openapi-react-query'
import type { components, paths } from './schema'

/** A schema of the API by its name. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** What the service refused, or that it could not be reached (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The code to act on, where there is one: docs/errors.md. */
    readonly code?: string,
    /** The messages of each field of a form, by its name in the request. */
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

/** The address of something that the service serves, below the address that the console is at. */
export function address(path: string): string {
  return new URL(path.replace(/^\//, ''), document.baseURI).href
}

const base = address('').replace(/\/$/, '')

function csrfToken(): string | undefined {
  const found = document.cookie.split('; ').find((one) => one.startsWith('XSRF-TOKEN='))
  return found && decodeURIComponent(found.slice('XSRF-TOKEN='.length))
}

/** Reports whether there may be a login: every session has a token against forged requests beside it. */
export function hasSession(): boolean {
  return csrfToken() !== undefined
}

let locale = 'en'

/** Sets the language in which the service answers. */
export function setApiLocale(to: string): void {
  locale = to
}

async function refusal(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (key: string) => (typeof body[key] === 'string' ? body[key] : undefined)
  // Required details that are missing are refused at their fields.
  const missing = Object.fromEntries(((body.missing_fields as string[] | undefined) ?? []).map((name) => [name, [text('message') ?? '']]))
  const after = Number(response.headers.get('Retry-After'))
  return new ApiError(
    response.status,
    text('message') ?? response.statusText,
    text('code'),
    (body.errors as Record<string, string[]> | undefined) ?? missing,
    body,
    after > 0 ? after : undefined,
  )
}

/** The writes that wait for their answer, by what they send. */
const inFlight = new Map<string, Promise<Response>>()

/** Sends a write once, however often it is asked for before its answer: two clicks are one order. */
async function sendOnce(request: Request): Promise<Response> {
  if (request.method === 'GET') return send(request)
  const key = `${request.method} ${request.url} ${await request.clone().text()}`
  const answer = inFlight.get(key) ?? send(request).finally(() => inFlight.delete(key))
  inFlight.set(key, answer)
  return (await answer).clone()
}

/**
 * Sends a request with the login's cookie, the token against forged requests and the reader's
 * language. The token changes with the session: after a 419 it is fetched again, once.
 */
async function send(request: Request): Promise<Response> {
  const write = request.method !== 'GET'
  const attempt = async () => {
    const headers = new Headers(request.headers)
    headers.set('Accept-Language', locale)
    if (write) headers.set('X-XSRF-TOKEN', csrfToken() ?? '')
    return fetch(new Request(request.clone(), { headers, credentials: 'same-origin' }))
  }
  const token = () => fetch(`${base}/csrf-cookie`, { credentials: 'same-origin' })
  try {
    if (write && !csrfToken()) await token()
    let response = await attempt()
    if (write && response.status === 419) {
      await token()
      response = await attempt()
    }
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'offline', 'offline')
  }
}

const refusals: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await refusal(response)
  },
}

/** The API, typed by its description: `api.GET('/api/v1/…', {params})`. Refusals are thrown as ApiError. */
export const api = createFetchClient<paths>({ baseUrl: base, fetch: sendOnce, querySerializer: { array: { style: 'form', explode: false } } })
api.use(refusals)

/** The API as queries and mutations of React: `$api.useQuery('get', '/api/v1/…', {params})`. */
export const $api = createClient(api)
