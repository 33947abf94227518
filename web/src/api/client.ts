import createFetchClient, { type Middleware } from 'openapi-fetch'
import createClient from 'openapi-react-query'
import { forgetEarly, read } from './batch'
import type { components, paths } from './schema'

/** A schema of the API by name. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

/** The query parameters of a GET request of the API by path. */
export type Query<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Of } } } ? Of : never

/** An error response of the service, or a failed connection (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The error code, if any: docs/errors.md. */
    readonly code?: string,
    /** The messages of form fields, by the field's name in the request. */
    readonly fields: Record<string, string[]> = {},
    /** The complete response, for the additional fields of a code. */
    readonly body: Record<string, unknown> = {},
    /** The number of seconds until a retry makes sense. */
    readonly retryAfter?: number,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

/** Returns the URL of a path of the service, relative to the console's base URL. */
export function address(path: string): string {
  return new URL(path.replace(/^\//, ''), document.baseURI).href
}

const base = address('').replace(/\/$/, '')

function csrfToken(): string | undefined {
  const found = document.cookie.split('; ').find((one) => one.startsWith('XSRF-TOKEN='))
  return found && decodeURIComponent(found.slice('XSRF-TOKEN='.length))
}

/** Reports whether there may be a session: every session has a CSRF cookie. */
export function hasSession(): boolean {
  return csrfToken() !== undefined
}

let locale = 'en'

/** Sets the language of the service's responses. */
export function setApiLocale(to: string): void {
  locale = to
}

async function refusal(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Record<string, unknown>
  const text = (key: string) => (typeof body[key] === 'string' ? body[key] : undefined)
  // Show missing required details at their fields.
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

/** The writes in flight, by request. */
const inFlight = new Map<string, Promise<Response>>()

/** Sends identical concurrent writes once, so that a double click is one order. */
async function sendOnce(request: Request): Promise<Response> {
  if (request.method === 'GET') return read(request.url.slice(base.length), (url) => send(new Request(base + url)))
  const key = `${request.method} ${request.url} ${await request.clone().text()}`
  const answer = inFlight.get(key) ?? send(request).finally(() => inFlight.delete(key))
  inFlight.set(key, answer)
  return (await answer).clone()
}

/**
 * Sends a request with the session cookie, the CSRF token and the user's language. The token
 * changes with the session: after a 419 the console fetches it again and retries once.
 */
async function send(request: Request): Promise<Response> {
  const write = request.method !== 'GET'
  if (write) forgetEarly()
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

/**
 * The API, typed by its description: `api.GET('/api/v1/…', {params})`. It throws errors as
 * ApiError.
 */
export const api = createFetchClient<paths, 'application/json'>({ baseUrl: base, fetch: sendOnce, querySerializer: { array: { style: 'form', explode: false } } })
api.use(refusals)

/** The API as React queries and mutations: `$api.useQuery('get', '/api/v1/…', {params})`. */
export const $api = createClient(api)
