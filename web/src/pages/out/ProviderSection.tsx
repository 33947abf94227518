import { Trans } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import { loginMethods } from '../../app/logins'
import { useSettings } from '../../app/session'
import { Providers } from './Providers'

/** Creates an account with an identity provider, if the operator has one. The sign-in page completes it and opens next. */
export function ProviderSection({ next }: { next: string }) {
  const settings = useSettings()
  const navigate = useNavigate()
  if (!loginMethods(settings).includes('oauth') || settings.oauth_providers.length === 0) return null
  return (
    <>
      <Providers providers={settings.oauth_providers} next={next} onCode={(code) => navigate({ to: '/sign-in', search: { code, next } })} />
      <div className="or"><Trans>or with your email</Trans></div>
    </>
  )
}
