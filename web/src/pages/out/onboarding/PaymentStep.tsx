import { plural } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { address, api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { meQuery } from '../../../app/session'
import { BillingFields, billingOf } from '../../../parts/BillingFields'
import { refusedReason } from '../../../parts/PromotionCode'
import { Button } from '../../../ui/Button'
import { Form, type Values } from '../../../ui/Form'
import { Icon } from '../../../ui/Icon'
import { Note } from '../../../ui/Messages'
import type { Choice } from '../Onboarding'
import { keepChoice } from './storage'
import { PlanChoice } from './PlanChoice'
import { codeOf, firstPayment, isCardFree, Receipt, useCosts, usePurchase } from './Receipt'

/**
 * Leads to the provider's payment page, any number of times. Asks for missing billing details
 * first.
 */
export function PaymentStep({ choice, plans, left, status }: { choice: Choice; plans: Schema<'Plan'>[]; left: boolean; status: Schema<'OnboardingStatus'> }) {
  const format = useFormat()
  const plan = plans.find((one) => one.slug === choice.plan)!
  const tenant = useQuery(meQuery).data?.currentTenant?.name
  const costs = useCosts(plan, choice)
  const purchase = usePurchase(plan, choice, status.billing_details)
  const amount = format.money(firstPayment(plan, costs.regular, purchase), choice.currency)
  const start = format.day(costs.start)
  async function pay(values: Values) {
    const details = billingOf(values)
    if (!status.has_billing_details && Object.values(details).some(Boolean)) await api.PATCH('/api/v1/onboarding/complete-setup', { body: details })
    const answer = await api.POST('/api/v1/onboarding/retry-checkout', {
      body: { plan_slug: plan.slug, currency: choice.currency, quantity: plan.pricing_type === 'seat' ? choice.seats : undefined, promotion_code: codeOf(choice, purchase) },
    }).catch(async (error: unknown) => {
      if (refusedReason(error)) await purchase.refetch()
      throw error
    })
    keepChoice(choice)
    location.assign(answer.data!.data.checkout_url ?? address('/'))
    await new Promise(() => {}) // keeps the button busy until the browser leaves the page
  }
  return (
    <>
      <div>
        <h1>{isCardFree(plan) && !costs.free ? <Trans>Start your trial</Trans> : <Trans>Payment</Trans>}</h1>
        {plan.trial_days > 0 && !costs.free && (
          <p className="muted">{isCardFree(plan) ? <Trans>Free until {start}. No card required.</Trans> : <Trans>Free until {start}. Cancel before then and you will not be charged.</Trans>}</p>
        )}
        <Form onSubmit={pay} className="stack gap-top">
          {({ busy }) => (
            <>
              {left && (
                <Note icon="info" title={<Trans>Nothing was charged</Trans>} role="status"><Trans>You left the payment page. Your details are saved, and you can continue anytime.</Trans></Note>
              )}
              {!status.has_billing_details && <BillingFields details={status.billing_details} countryFirst />}
              <PlanChoice plan={plan} choice={choice} />
              <Button type="submit" look="primary" size="big" block busy={busy}>
                {costs.free ? <Trans>Start for free</Trans> : isCardFree(plan) ? plural(plan.trial_days, { one: 'Start #-day free trial', other: 'Start #-day free trial' }) : plan.trial_days > 0 ? <Trans>Continue to payment — {amount} on {start}</Trans> : <Trans>Continue to payment — {amount}</Trans>}
              </Button>
              {!costs.free && !isCardFree(plan) && <p className="help center"><Icon name="lock" /><Trans>You enter your card details on the payment provider’s page and then return here.</Trans></p>}
            </>
          )}
        </Form>
      </div>
      <Receipt plan={plan} choice={choice} tenant={tenant} purchase={purchase} />
    </>
  )
}
