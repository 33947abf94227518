import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useState, type MouseEvent } from 'react'
import { address } from '../../api/client'
import { lastUsed } from '../../app/logins'
import { providerName } from '../../app/providers'
import { ProviderLogo } from '../../parts/ProviderLogo'
import { ButtonAnchor } from '../../ui/Button'
import { LoginFailure } from './sign-in/failures'

/** Stores the page to open after a login that leaves this page. */
export function keepBack(next: string): void {
  try {
    sessionStorage.setItem('back', next)
  } catch {
    // Without storage the login leads to the home page.
  }
}

/**
 * Signs in with an identity provider: in a popup, or on this page without one (on a phone, or if
 * the browser blocks popups). The popup returns a one-time code to exchange. Without a popup the
 * sign-in page receives the code and returns to next.
 */
export function Providers({ providers, next, onCode }: { providers: string[]; next: string; onCode: (code: string, provider: string) => unknown }) {
  const { t } = useLingui()
  const popup = useRef<{ window: Window; provider: string } | null>(null)
  const [failure, setFailure] = useState<string>()
  const receive = useRef(onCode)
  useEffect(() => { receive.current = onCode })
  useEffect(() => {
    function onMessage(event: MessageEvent) {
      const message = event.data as { type?: string; code?: string; error?: string } | null
      if (event.source !== popup.current?.window || event.origin !== location.origin || message?.type !== 'oauth-callback') return
      if (message.code) void receive.current(message.code, popup.current!.provider)
      else setFailure(message.error)
    }
    window.addEventListener('message', onMessage)
    return () => window.removeEventListener('message', onMessage)
  }, [])

  function begin(event: MouseEvent<HTMLAnchorElement>, provider: string) {
    setFailure(undefined)
    keepBack(next)
    try {
      sessionStorage.setItem('provider', provider)
    } catch {
      // Without storage the provider is not marked as last used.
    }
    if (window.innerWidth <= 720) return
    const opened = window.open(event.currentTarget.href, 'login', 'popup,width=480,height=680')
    if (!opened) return
    popup.current = { window: opened, provider }
    event.preventDefault()
  }
  return (
    <>
      {failure && failure !== 'access_denied' && <LoginFailure error={failure} />}
      <div className={providers.length > 1 ? 'pair' : undefined}>
        {providers.map((code) => (
          <ButtonAnchor
            key={code} size="big" block href={address(`/api/v1/auth/oauth/${code}/redirect`)} onClick={(event) => begin(event, code)}
            aria-label={t`Continue with ${providerName(code)}`}
          >
            <ProviderLogo code={code} />
            {providers.length > 1 ? providerName(code) : <Trans>Continue with {providerName(code)}</Trans>}
            {lastUsed('login-method') === code && <LastUsed />}
          </ButtonAnchor>
        ))}
      </div>
    </>
  )
}

/** Marks the login method that was used last in this browser. */
export function LastUsed() {
  return <span className="tag"><Trans>Last used</Trans></span>
}
