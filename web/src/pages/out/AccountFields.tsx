import { Trans, useLingui } from '@lingui/react/macro'
import { useSettings } from '../../app/session'
import { PasswordField, TextField } from '../../ui/Field'

/** The fields of a new account. With email, the address is fixed. */
export function AccountFields({ email, kept = {} }: { email?: string; kept?: Record<string, string> }) {
  const { t } = useLingui()
  return (
    <>
      <TextField name="name" label={t`Your name`} autoComplete="name" autoFocus defaultValue={kept.name} />
      <TextField name="email" label={t`Email`} type="email" autoComplete="username" defaultValue={email ?? kept.email} readOnly={email !== undefined} />
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
