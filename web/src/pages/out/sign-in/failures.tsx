import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { ApiError } from '../../../api/client'
import { Note } from '../../../ui/Messages'

/** Explains why a delegated login failed: the error that its callback receives. */
export function LoginFailure({ error }: { error: string }) {
  if (error === 'sso_not_provisioned') {
    return (
      <Note tone="bad" title={<Trans>You don’t have access yet</Trans>}>
        <Trans>Your SSO sign-in worked, but you aren’t a member of this organization. Ask an admin to invite you.</Trans>
      </Note>
    )
  }
  const texts: Record<string, ReactNode> = {
    access_denied: <Trans>You canceled the sign-in. Try again, or choose another way.</Trans>,
    email_unverified: <Trans>Your provider hasn’t verified your email. Ask your admin.</Trans>,
    invalid_state: <Trans>This sign-in has expired. Try again.</Trans>,
    link_refused: <Trans>Your account can’t be linked to this provider. Sign in another way.</Trans>,
    provider_error: <Trans>Your identity provider returned an error. Try again.</Trans>,
    sso_domain_mismatch: <Trans>Your email isn’t in a domain of this organization.</Trans>,
    sso_account_elsewhere: <Trans>This email belongs to an account outside this organization. Contact support.</Trans>,
    sso_link_refused: <Trans>Your account can’t be linked to SSO. Sign in with your password or ask the owner.</Trans>,
    seat_limit_reached: <Trans>All seats of your organization are taken. Ask an admin to add one.</Trans>,
  }
  const calm = error === 'access_denied'
  return (
    <Note tone={calm ? undefined : 'bad'} role={calm ? 'status' : 'alert'} title={calm ? undefined : <Trans>We couldn’t sign you in</Trans>}>
      {texts[error] ?? <Trans>Something went wrong on our side. Try again.</Trans>}
    </Note>
  )
}

/** Returns a function that replaces errors of login requests whose text does not suit a login. */
export function useLoginError(): (error: unknown) => unknown {
  const { t } = useLingui()
  return (error) => {
    if (!(error instanceof ApiError)) return error
    if (error.status === 0) return new ApiError(400, t`You’re offline. Reconnect to sign in.`, error.code)
    if (error.code === 'LOGIN_METHOD_DISABLED') return new ApiError(400, t`This sign-in method is turned off. Choose another one.`, error.code)
    return error
  }
}
