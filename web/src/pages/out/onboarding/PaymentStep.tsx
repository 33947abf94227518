import { Trans } from '@lingui/react/macro'
import { useMutation, useQuery } from '@tanstack/react-query'
import { address, api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { meQuery } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Icon } from '../../../ui/Icon'
import { Note, Problem } from '../../../ui/Messages'
import type { Choice } from '../Onboarding'
import { keepChoice } from './kept'
import { PlanChoice } from './PlanChoice'
import { Receipt, useCosts } from './Receipt'

/** Leads to the provider's page for the payment, as often as it takes. */
export function PaymentStep({ choice, plans, left }: { choice: Choice; plans: Schema<'Plan'>[]; left: boolean }) {
  const format = useFormat()
  const plan = plans.find((one) => one.slug === choice.plan)!
  const tenant = useQuery(meQuery).data?.currentTenant?.name
  const costs = useCosts(plan, choice)
  const amount = format.money(costs.regular, choice.currency)
  const start = format.day(costs.start)
  const pay = useMutation({
    mutationFn: async () => {
      const answer = await api.POST('/api/v1/onboarding/retry-checkout', {
        body: { plan_slug: plan.slug, currency: choice.currency, quantity: plan.pricing_type === 'seat' ? choice.seats : undefined },
      })
      keepChoice(choice)
      location.assign(answer.data!.data.checkout_url ?? address('/'))
      await new Promise(() => {}) // the button stays at work until the page is left
    },
  })
  return (
    <>
      <div>
        <h1><Trans>Payment</Trans></h1>
        {plan.trial_days > 0 && !costs.free && <p className="muted"><Trans>Free until {start}. Stop before and you pay nothing.</Trans></p>}
        <div className="stack gap-top">
          {left && !pay.error && (
            <Note icon="info" title={<Trans>Nothing was charged</Trans>} role="status"><Trans>You left the payment. All that you entered is kept; go on when you like.</Trans></Note>
          )}
          {pay.error && <Problem error={pay.error} />}
          <PlanChoice plan={plan} choice={choice} />
          <Button look="primary" size="big" block busy={pay.isPending} onClick={() => pay.mutate()}>
            {costs.free ? <Trans>Start for free</Trans> : plan.trial_days > 0 ? <Trans>To the payment — {amount} on {start}</Trans> : <Trans>To the payment — {amount}</Trans>}
          </Button>
          {!costs.free && <p className="help center"><Icon name="lock" /><Trans>You enter the card on the payment provider’s page and come back here.</Trans></p>}
        </div>
      </div>
      <Receipt plan={plan} choice={choice} tenant={tenant} />
    </>
  )
}
