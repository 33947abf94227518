import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client'
import { useSettings } from '../../app/session'
import { Out } from '../../shell/Out'
import { Button } from '../../ui/Button'
import { TextField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { AccountFields, Agreement } from './AccountFields'
import { ProviderSection } from './ProviderSection'

/** Creates an account and its organization. The plan is chosen afterwards. */
export default function Register() {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function register(values: Values) {
    await api.POST('/api/v1/auth/register', {
      body: {
        name: String(values.name), email: String(values.email), password: String(values.password),
        password_confirmation: String(values.password), tenant_name: String(values.tenant_name) || undefined, create_tenant: true,
      },
    })
    queries.clear()
    await navigate({ to: '/onboarding', replace: true })
  }
  return (
    <Out title={t`Create an account`} end={<Trans>Already have an account? <Link to="/sign-in">Sign in</Link></Trans>}>
      <h1><Trans>Create your {app_name} account</Trans></h1>
      <Form onSubmit={register}>
        {({ busy }) => (
          <>
            <ProviderSection next="/onboarding" />
            <AccountFields next="/onboarding" />
            <TextField name="tenant_name" label={t`Organization`} hint={t`optional`} autoComplete="organization" help={t`If empty, your own name is used. You can change it later.`} />
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Create account</Trans></Button>
            <Agreement />
          </>
        )}
      </Form>
    </Out>
  )
}
