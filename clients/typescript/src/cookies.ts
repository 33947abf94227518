import { pathOf, until, type Auth } from './auth.js'
import { refused } from './error.js'
import type { Send } from './send.js'

/** On whose behalf a server calls with cookies. */
export interface Forwarded {
  /** The header Cookie of the request that the server answers. */
  cookie: string
  /** The origin of the frontend, such as `https://app.example.com`; only what changes something needs it. */
  origin?: string
}

/**
 * Calls with the cookie of a login, which scripts cannot read: for a web page whose origin is
 * first-party for the service. Requests that change something carry the token against forged
 * requests, which is fetched again when the session has changed.
 *
 * A server that renders pages for somebody gives the cookies that it was sent; it logs nobody in or
 * out, because the new cookie would not reach the browser.
 */
export function cookies(forwarded?: Forwarded): Auth {
  let token: Promise<string> | undefined

  const prepared = (request: Request, csrf?: string) => {
    const headers = new Headers(request.headers)
    if (csrf !== undefined) headers.set('X-XSRF-TOKEN', csrf)
    if (forwarded) {
      headers.set('Cookie', forwarded.cookie)
      if (forwarded.origin) headers.set('Origin', forwarded.origin)
    }
    return new Request(request, { headers, credentials: 'include' })
  }

  const fetchToken = async (send: Send, baseUrl: string) => {
    const response = await send(prepared(new Request(`${baseUrl}/csrf-cookie`)))
    await response.body?.cancel()
    const found = response.headers.get('X-CSRF-Token')
    if (!found) {
      const message = 'The service gave no CSRF token: the origin of this page is not first-party, see docs/frontend.md.'
      throw refused(response, { message })
    }
    return found
  }

  return {
    async fetch(request, send, baseUrl) {
      if (request.method === 'GET' || request.method === 'HEAD') return send(prepared(request))
      const current = () => {
        if (!token) {
          const asked = fetchToken(send, baseUrl)
          token = asked
          asked.catch(() => {
            if (token === asked) token = undefined
          })
        }
        return token
      }
      const used = current()
      let response = await send(prepared(request.clone(), await until(used, request.signal)))
      if (response.status === 419) {
        await response.body?.cancel()
        if (token === used) token = undefined
        response = await send(prepared(request, await until(current(), request.signal)))
      }
      // The token belongs to the session, which is another one after a login or logout.
      if (changesSession.test(pathOf(request, baseUrl))) token = undefined
      return response
    },
  }
}

const changesSession = /^\/api\/v1\/(auth|onboarding|invitations|user\/password)\b/
