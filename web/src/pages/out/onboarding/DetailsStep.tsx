import { Trans } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Form, type Values } from '../../../ui/Form'
import { BillingFields, billingOf } from '../../../parts/BillingFields'

/** Takes what invoices need, and completes the onboarding. */
export function DetailsStep({ status }: { status: Schema<'OnboardingStatus'> }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const plan = status.plan_name ?? ''
  async function finish(values: Values) {
    await api.PATCH('/api/v1/onboarding/complete-setup', { body: billingOf(values) })
    await queries.invalidateQueries()
    await navigate({ to: '/', replace: true })
  }
  return (
    <div>
      <h1><Trans>{plan} is yours</Trans></h1>
      <p className="muted"><Trans>Last, what is printed on your invoices.</Trans></p>
      <Form onSubmit={finish} className="stack">
        {({ busy }) => (
          <>
            <BillingFields details={status.billing_details} />
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Done — show me the home page</Trans></Button>
          </>
        )}
      </Form>
    </div>
  )
}
