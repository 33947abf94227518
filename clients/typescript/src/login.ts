import type { Answer, Tenantry } from './client.js'
import { TenantryError } from './error.js'

/** What the callback page tells the page that opened it. */
interface Told {
  type: 'oauth-callback'
  code?: string
  error?: string
}

const channelName = 'tenantry-login'
const taken = 'taken'

/**
 * Logs in at an identity provider, in a popup that comes back to `oauth_callback` of the frontend,
 * where finishPopup() runs. Call it when a button is pressed: browsers block a popup that nobody
 * asked for (`popup_blocked`). Nothing is told when somebody closes the popup: leave the button
 * there, and end an earlier attempt with its signal.
 */
export async function logInAt(
  tenantry: Tenantry,
  provider: string,
  { signal, features = 'popup,width=480,height=640' }: { signal?: AbortSignal; features?: string } = {},
): Promise<Answer<'/api/v1/auth/oauth/exchange', 'post'>> {
  signal?.throwIfAborted()
  const address = `${tenantry.baseUrl}/api/v1/auth/oauth/${encodeURIComponent(provider)}/redirect`
  const popup = window.open(address, 'tenantry-login', features)
  if (!popup) throw new TenantryError({ status: 0, code: 'popup_blocked', message: 'The browser blocked the login window.' })
  const code = await told(popup, signal)
  return tenantry.POST('/api/v1/auth/oauth/exchange', { body: { code }, ...(signal && { signal }) })
}

/** Waits for what the callback page tells. Some providers cut the tie of a popup to its opener, so it may come by the channel. */
function told(popup: Window, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const channel = new BroadcastChannel(channelName)
    const end = () => {
      channel.close()
      removeEventListener('message', byOpener)
      signal?.removeEventListener('abort', aborted)
    }
    const take = ({ code, error }: Told) => {
      end()
      if (code) resolve(code)
      else reject(new TenantryError({ status: 0, message: error ?? 'The login gave no code.', body: { error } }))
    }
    const byOpener = (event: MessageEvent) => {
      if (event.source === popup && event.origin === location.origin && isTold(event.data)) take(event.data)
    }
    const aborted = () => {
      end()
      popup.close()
      reject(signal?.reason)
    }
    addEventListener('message', byOpener)
    channel.onmessage = (event) => {
      if (!isTold(event.data)) return
      channel.postMessage(taken)
      take(event.data)
    }
    signal?.addEventListener('abort', aborted)
  })
}

function isTold(data: unknown): data is Told {
  return typeof data === 'object' && data !== null && (data as Told).type === 'oauth-callback'
}

/** How the callback page ended. */
export interface PopupEnd {
  /** Whether a page waited for the code, which it now has; else this page makes the exchange itself. */
  told: boolean
  code?: string
  error?: string
}

/**
 * Ends a login in a popup: the page at `oauth_callback` calls it. It takes the code out of the
 * address, tells it to the page that opened the popup and to nobody of another origin, and closes
 * the popup.
 */
export async function finishPopup(): Promise<PopupEnd> {
  const query = new URLSearchParams(location.search)
  history.replaceState(null, '', location.pathname)
  const [code, error] = [query.get('code'), query.get('error')]
  const found = { ...(code && { code }), ...(error && { error }) }
  const message: Told = { type: 'oauth-callback', ...found }
  const opener = window.opener as Window | null
  opener?.postMessage(message, location.origin)
  const told = opener !== null || (await tellByChannel(message))
  if (told) window.close()
  return { told, ...found }
}

/** Tells a page that lost its tie to this one; reports whether one has taken it. */
function tellByChannel(message: Told): Promise<boolean> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(channelName)
    const end = (told: boolean) => {
      clearTimeout(timer)
      channel.close()
      resolve(told)
    }
    const timer = setTimeout(end, 500, false)
    channel.onmessage = (event) => {
      if (event.data === taken) end(true)
    }
    channel.postMessage(message)
  })
}
