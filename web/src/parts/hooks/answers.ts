import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'

type Attempt = Pick<Schema<'WebhookAttempt'>, 'error' | 'status_code'>

/** The names of HTTP statuses, which are not translated. */
const names: Record<number, string> = {
  200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 301: 'Moved Permanently', 302: 'Found', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
  400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone',
  413: 'Content Too Large', 415: 'Unsupported Media Type', 422: 'Unprocessable Content', 429: 'Too Many Requests',
  500: 'Internal Server Error', 501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout',
}

/** Returns functions that describe the response to an attempt: briefly for a list, or as a line. */
export function useAnswers() {
  const { t } = useLingui()
  const format = useFormat()
  const failures: Record<string, string> = {
    address_not_allowed: t`Host not found or address not public`, connection_failed: t`No connection`, invalid_answer: t`Invalid HTTP response`,
    timeout: t`No response`, tls_failed: t`Invalid certificate`,
  }
  return {
    brief: (of: Attempt) => (of.error ? failures[of.error] ?? of.error : String(of.status_code)),
    line: (of: Attempt) => (of.error ? failures[of.error] ?? of.error : `${of.status_code} ${names[of.status_code ?? 0] ?? ''}`.trim()),
    /** 304 ms, or 15 s. */
    took: (ms: number) => (ms < 10_000 ? t`${format.number(ms)} ms` : t`${format.number(Math.round(ms / 100) / 10)} s`),
  }
}

/** Reports whether an attempt delivered the event. */
export const delivered = ({ status_code: code }: Attempt) => code !== null && code >= 200 && code < 300
