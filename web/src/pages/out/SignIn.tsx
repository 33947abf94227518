import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { api, ApiError } from '../../api/client'
import { useSettings, within } from '../../app/session'
import { Out } from '../../shell/Out'
import { Button } from '../../ui/Button'
import { Check, PasswordField, TextField } from '../../ui/Field'
import { Form } from '../../ui/Form'
import { Providers } from './Providers'

/** Signs in, in cookie mode, and opens the requested page. */
export default function SignIn() {
  const { t } = useLingui()
  const { app_name, oauth_providers } = useSettings()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const next = within((useSearch({ strict: false }) as { next?: string }).next)

  async function goOn() {
    queries.clear()
    await navigate({ href: next, replace: true })
  }
  async function signIn(values: Record<string, string | boolean>) {
    try {
      await api.POST('/api/v1/auth/login', {
        body: { email: String(values.email), password: String(values.password), remember: values.remember === true },
      })
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        const message = t`Incorrect email address or password. Try again, or reset your password.`
        throw new ApiError(401, message, error.code, { password: [message] })
      }
      throw error
    }
    await goOn()
  }
  return (
    <Out title={t`Sign in`} end={<Trans>New here? <Link to="/pricing">View plans</Link></Trans>}>
      <h1><Trans>Sign in to {app_name}</Trans></h1>
      <Form onSubmit={signIn}>
        {({ busy }) => (
          <>
            <Providers providers={oauth_providers} next={next} onDone={goOn} />
            {oauth_providers.length > 0 && <div className="or"><Trans>or with a password</Trans></div>}
            <TextField name="email" label={t`Email`} type="email" autoComplete="username" required autoFocus />
            <PasswordField
              name="password" label={t`Password`} autoComplete="current-password" required
              aside={<Link to="/forgot-password"><Trans>Forgot password?</Trans></Link>}
            />
            <Check name="remember" defaultChecked><Trans>Stay signed in on this computer</Trans></Check>
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Sign in</Trans></Button>
          </>
        )}
      </Form>
    </Out>
  )
}
