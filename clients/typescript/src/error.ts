import type { components } from './schema.js'

/** The codes of the service, and those of the client itself for a request that was not answered. */
export type ErrorCode = components['schemas']['ErrorCode'] | 'unreachable' | 'timeout' | 'popup_blocked'

/** What a TenantryError is made of. */
export interface Refusal {
  status: number
  message: string
  code?: ErrorCode | undefined
  fields?: Record<string, string[]> | undefined
  body?: unknown
  retryAfter?: number | undefined
  requestId?: string | undefined
  cause?: unknown
}

/** A request that the service refused, or that it did not answer. */
export class TenantryError extends Error {
  override readonly name = 'TenantryError'
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number
  /** For programs: what the service's docs/errors.md lists, `unreachable` or `timeout`. Many refusals have none. */
  readonly code: ErrorCode | undefined
  /** The messages of each invalid field, by its dotted path such as `prices.0.currency`. */
  readonly fields: Record<string, string[]>
  /** The whole answer, for what comes with some codes, such as `missing_fields`. */
  readonly body: unknown
  /** After how many seconds another attempt makes sense, where the service said so. */
  readonly retryAfter: number | undefined
  /** By which the request is found in the service's log. */
  readonly requestId: string | undefined

  constructor(refusal: Refusal) {
    super(refusal.message, refusal.cause === undefined ? undefined : { cause: refusal.cause })
    this.status = refusal.status
    this.code = refusal.code
    this.fields = refusal.fields ?? {}
    this.body = refusal.body
    this.retryAfter = refusal.retryAfter
    this.requestId = refusal.requestId
  }
}

/** Reports whether an error is a TenantryError, with this code where one is given. */
export function isTenantryError(error: unknown, code?: ErrorCode): error is TenantryError {
  return error instanceof TenantryError && (code === undefined || error.code === code)
}

/** Returns the error for a refusal whose body was read already. */
export function refused(response: Response, body: unknown): TenantryError {
  const answer = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const { message, code, errors } = answer
  return new TenantryError({
    status: response.status,
    message: typeof message === 'string' ? message : `${response.status} ${response.statusText}`.trim(),
    code: typeof code === 'string' ? (code as ErrorCode) : undefined,
    fields: typeof errors === 'object' && errors !== null ? (errors as Record<string, string[]>) : undefined,
    body,
    retryAfter: retryAfter(response),
    requestId: response.headers.get('X-Request-Id') ?? undefined,
  })
}

/** Returns the error for a request that got no whole answer. */
export function unanswered(cause: unknown): TenantryError {
  const late = cause instanceof DOMException && cause.name === 'TimeoutError'
  return new TenantryError({
    status: 0,
    code: late ? 'timeout' : 'unreachable',
    message: late ? 'The service did not answer in time.' : 'The service cannot be reached.',
    cause,
  })
}

/** Returns the seconds of Retry-After, which may be a date too. */
export function retryAfter(response: Response): number | undefined {
  const value = response.headers.get('Retry-After')
  if (value === null) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
