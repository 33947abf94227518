import { Trans } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, type MouseEvent } from 'react'
import { address, api, ApiError } from '../../api/client'
import { providerName } from '../../app/providers'
import { ButtonAnchor } from '../../ui/Button'
import { Problem } from '../../ui/Messages'

/**
 * Signs in with an identity provider: in a popup, or on this page without one (on a phone, or if
 * the browser blocks popups). In the latter case the page that completes the login returns to next.
 */
export function Providers({ providers, next, onDone }: { providers: string[]; next: string; onDone: () => Promise<unknown> }) {
  const popup = useRef<Window | null>(null)
  const exchange = useMutation({
    mutationFn: async (message: { code?: string; error?: string }) => {
      if (!message.code) throw new ApiError(400, message.error ?? '', message.error)
      await api.POST('/api/v1/auth/oauth/exchange', { body: { code: message.code } })
      await onDone()
    },
  })
  const { mutate } = exchange
  useEffect(() => {
    function onMessage(event: MessageEvent) {
      const message = event.data as { type?: string; code?: string; error?: string } | null
      if (event.source !== popup.current || event.origin !== location.origin || message?.type !== 'oauth-callback') return
      mutate(message)
    }
    window.addEventListener('message', onMessage)
    return () => window.removeEventListener('message', onMessage)
  }, [mutate])

  function begin(event: MouseEvent<HTMLAnchorElement>) {
    try {
      sessionStorage.setItem('back', next)
    } catch {
      // Without storage the login leads to the home page.
    }
    if (window.innerWidth <= 720) return
    popup.current = window.open(event.currentTarget.href, 'login', 'popup,width=480,height=680')
    if (popup.current) event.preventDefault()
  }
  return (
    <>
      {exchange.error && (exchange.error instanceof ApiError && exchange.error.code === 'access_denied' ? null : <Problem error={exchange.error} />)}
      {providers.map((name) => (
        <ButtonAnchor key={name} size="big" block icon="key" href={address(`/api/v1/auth/oauth/${name}/redirect`)} onClick={begin}>
          <Trans>Continue with {providerName(name)}</Trans>
        </ButtonAnchor>
      ))}
    </>
  )
}
