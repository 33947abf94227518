import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { address, api, ApiError } from '../../api/client'
import { useSettings } from '../../app/session'
import { Out } from '../../shell/Out'
import { Button, ButtonAnchor } from '../../ui/Button'
import { Check, PasswordField, TextField } from '../../ui/Field'
import { Form } from '../../ui/Form'

/** The names of identity providers that people know. */
const providerNames: Record<string, string> = { google: 'Google', github: 'GitHub', microsoft: 'Microsoft', apple: 'Apple' }

/** Signs in, in cookie mode, and goes where one wanted to go. */
export default function SignIn() {
  const { t } = useLingui()
  const { app_name, oauth_providers } = useSettings()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { next } = useSearch({ strict: false }) as { next?: string }

  async function signIn(values: Record<string, string | boolean>) {
    try {
      await api.POST('/api/v1/auth/login', {
        body: { email: String(values.email), password: String(values.password), remember: values.remember === true },
      })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        const message = t`Email or password is not right. Try again, or ask for a link to set a new one.`
        throw new ApiError(401, message, error.code, { password: [message] })
      }
      throw error
    }
    queries.clear()
    await navigate({ href: next ?? '/', replace: true })
  }
  return (
    <Out title={t`Sign in`} end={<Trans>New here? <Link to="/pricing">See plans</Link></Trans>}>
      <h1><Trans>Sign in to {app_name}</Trans></h1>
      <Form onSubmit={signIn}>
        {({ busy }) => (
          <>
            {oauth_providers.map((name) => (
              <ButtonAnchor key={name} size="big" block icon="key" href={address(`/api/v1/auth/oauth/${name}/redirect`)}>
                <Trans>Continue with {providerNames[name] ?? name}</Trans>
              </ButtonAnchor>
            ))}
            {oauth_providers.length > 0 && <div className="or"><Trans>or with a password</Trans></div>}
            <TextField name="email" label={t`Email`} type="email" autoComplete="username" required autoFocus />
            <PasswordField
              name="password" label={t`Password`} autoComplete="current-password" required
              aside={<Link to="/forgot-password"><Trans>Forgotten?</Trans></Link>}
            />
            <Check name="remember" defaultChecked><Trans>Stay signed in on this computer</Trans></Check>
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Sign in</Trans></Button>
          </>
        )}
      </Form>
    </Out>
  )
}
