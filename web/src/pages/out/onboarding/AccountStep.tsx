import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { address, api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { BillingFields, billingOf } from '../../../parts/BillingFields'
import { refusedReason } from '../../../parts/PromotionCode'
import { Button } from '../../../ui/Button'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { AccountFields, Agreement } from '../AccountFields'
import type { Choice } from '../Onboarding'
import { ProviderSection } from '../ProviderSection'
import { forgetEntries, keepChoice, keepEntry, keptEntries } from './storage'
import { PlanChoice } from './PlanChoice'
import { codeOf, firstPayment, isCardFree, Receipt, useCosts, usePurchase, type TaxDetails } from './Receipt'

/** Creates the account and its organization, and leads directly to the payment. */
export function AccountStep({ choice, plans }: { choice: Choice; plans: Schema<'Plan'>[] }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const plan = plans.find((one) => one.slug === choice.plan)!
  const costs = useCosts(plan, choice)
  const [tenant, setTenant] = useState(keptEntries().tenant_name ?? '')
  const [details, setDetails] = useState<TaxDetails>({ country: keptEntries().country, vat_number: keptEntries().vat_number })
  const purchase = usePurchase(plan, choice, details)
  const amount = format.money(firstPayment(plan, costs.regular, purchase), choice.currency)
  const start = format.day(costs.start)
  const next = `/onboarding?plan=${plan.slug}&currency=${choice.currency}&seats=${choice.seats}${choice.code ? `&code=${encodeURIComponent(choice.code)}` : ''}`

  async function begin(values: Values) {
    const answer = await api.POST('/api/v1/onboarding/start', {
      body: {
        plan_slug: plan.slug, currency: choice.currency, quantity: plan.pricing_type === 'seat' ? choice.seats : undefined,
        name: String(values.name), email: String(values.email), password: String(values.password), password_confirmation: String(values.password),
        tenant_name: String(values.tenant_name) || undefined, promotion_code: codeOf(choice, purchase), ...billingOf(values),
      },
    }).catch(async (error: unknown) => {
      if (refusedReason(error)) await purchase.refetch()
      throw error
    })
    forgetEntries()
    queries.clear()
    keepChoice(choice)
    location.assign(answer.data!.checkout_url ?? address('/'))
    await new Promise(() => {}) // keeps the button busy until the browser leaves the page
  }
  return (
    <>
      <div>
        <h1><Trans>Your account</Trans></h1>
        <p className="muted">
          {costs.free ? <Trans>This plan is free. No card required.</Trans> : isCardFree(plan)
            ? <Trans>Free until {start}. No card required.</Trans> : plan.trial_days > 0
            ? <Trans>Free until {start}. Cancel before then and you will not be charged.</Trans>
            : <Trans>After the payment, your organization is ready.</Trans>}
        </p>
        <Form
          onSubmit={begin}
          className="kept"
        >
          {({ busy }) => (
            <div
              className="stack"
              onChange={(event) => {
                const field = event.target as HTMLInputElement
                if (!field.name || field.type === 'password') return
                keepEntry(field.name, field.value)
                if (field.name === 'tenant_name') setTenant(field.value)
                if (field.name === 'country') setDetails((before) => ({ ...before, country: field.value }))
              }}
              // The number is complete when the field loses the focus.
              onBlur={(event) => {
                const { name, value } = event.target as HTMLInputElement
                if (name === 'vat_number') setDetails((before) => ({ ...before, vat_number: value.trim() }))
              }}
            >
              <ProviderSection next={next} />
              <AccountFields kept={keptEntries()} next={next} />
              <TextField name="tenant_name" label={t`Organization`} hint={t`optional`} autoComplete="organization" defaultValue={keptEntries().tenant_name} />
              <BillingFields details={keptEntries()} countryFirst />
              <PlanChoice plan={plan} choice={choice} />
              <Button type="submit" look="primary" size="big" block busy={busy}>
                {costs.free ? <Trans>Start for free</Trans> : isCardFree(plan) ? plural(plan.trial_days, { one: 'Start #-day free trial', other: 'Start #-day free trial' }) : plan.trial_days > 0 ? <Trans>Continue to payment — {amount} on {start}</Trans> : <Trans>Continue to payment — {amount}</Trans>}
              </Button>
              <Agreement />
              <p className="help center"><Trans>Already have an account? <Link to="/sign-in" search={{ next }}>Sign in</Link></Trans></p>
            </div>
          )}
        </Form>
      </div>
      <Receipt plan={plan} choice={choice} tenant={tenant || undefined} purchase={purchase} />
    </>
  )
}
