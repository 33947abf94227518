import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useContext, useState } from 'react'
import { useSettings } from '../../app/session'
import { FieldErrors, PasswordField, TextField } from '../../ui/Field'

/** The fields of a new account. With email, the address is fixed. next is the page after a sign-in instead. */
export function AccountFields({ email, kept = {}, next }: { email?: string; kept?: Partial<Record<string, string>>; next?: string }) {
  const { t } = useLingui()
  const [typed, setTyped] = useState(kept.email ?? '')
  const refused = useContext(FieldErrors).email?.[0]
  // A complete address is refused only if an account has it.
  const error = refused && email === undefined && /^\S+@\S+\.\S+$/.test(typed.trim())
    ? <>{refused} <Link to="/sign-in" search={{ next }}><Trans>Sign in instead</Trans></Link></> : refused
  return (
    <>
      <TextField name="name" label={t`Your name`} autoComplete="name" autoFocus defaultValue={kept.name} />
      <TextField name="email" label={t`Email`} type="email" autoComplete="username" defaultValue={email ?? kept.email} readOnly={email !== undefined} error={error} onChange={(event) => setTyped(event.target.value)} />
      <PasswordField name="password" label={t`Password`} autoComplete="new-password" help={t`At least 8 characters.`} />
    </>
  )
}

/** The agreement to the terms and the privacy policy, if the operator has such pages. */
export function Agreement() {
  const { terms_url, privacy_url } = useSettings()
  if (!terms_url && !privacy_url) return null
  return (
    <p className="help center">
      {terms_url && privacy_url
        ? <Trans>By creating an account, you agree to the <a href={terms_url}>terms</a>. Our <a href={privacy_url}>privacy notice</a> explains what data we keep.</Trans>
        : terms_url
          ? <Trans>By creating an account, you agree to the <a href={terms_url}>terms</a>.</Trans>
          : <Trans>Our <a href={privacy_url!}>privacy notice</a> explains what data we keep.</Trans>}
    </p>
  )
}
