import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { loginMethods } from '../../app/logins'
import { useSettings } from '../../app/session'
import { ButtonLink } from '../../ui/Button'

/** Shows a page about passwords only if users can log in with one. Otherwise leads to the sign-in page. */
export function PasswordsOnly({ children }: { children: ReactNode }) {
  if (loginMethods(useSettings()).includes('password')) return children
  return (
    <>
      <h1><Trans>Passwords are not used here</Trans></h1>
      <p className="muted"><Trans>You can sign in without a password.</Trans></p>
      <p className="gap-top"><ButtonLink to="/sign-in" look="primary" size="big" block><Trans>Sign in</Trans></ButtonLink></p>
    </>
  )
}
