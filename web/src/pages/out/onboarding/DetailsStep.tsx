import { Trans } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Form, type Values } from '../../../ui/Form'
import { Problem, Skeleton } from '../../../ui/Messages'
import { BillingFields, billingOf } from '../../../parts/BillingFields'

/** Completes the onboarding of a tenant that entered its details before the payment. */
export function CompleteStep() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const complete = useMutation({
    mutationFn: async () => {
      await api.PATCH('/api/v1/onboarding/complete-setup', { body: {} })
      await queries.invalidateQueries()
      await navigate({ to: '/', replace: true })
    },
  })
  const { mutate, error } = complete
  useEffect(() => mutate(), [mutate])
  return error ? <Problem error={error} onRetry={() => mutate()} /> : <Skeleton lines={5} />
}

/** Saves the billing details and completes the onboarding. */
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
      <h1><Trans>Your {plan} plan is ready</Trans></h1>
      <p className="muted"><Trans>Finally, enter the details for your invoices.</Trans></p>
      <Form onSubmit={finish} className="stack">
        {({ busy }) => (
          <>
            <BillingFields details={status.billing_details} />
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Finish and go to home page</Trans></Button>
          </>
        )}
      </Form>
    </div>
  )
}
