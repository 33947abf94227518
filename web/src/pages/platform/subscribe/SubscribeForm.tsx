import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useSettings } from '../../../app/session'
import { refusedReason } from '../../../parts/PromotionCode'
import { Button, ButtonLink } from '../../../ui/Button'
import { Form } from '../../../ui/Form'
import { Note, Problem } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useDigits } from '../plan/digits'
import { minorUnits } from '../plan/draft'
import { makeSubscription, previewSubscription, type NewSubscription } from '../tenant/subscriptions'
import { priceOf, type Sold } from '../tenant/plans'
import { billingQuery } from '../tenant/reads'
import { useSettled } from '../tenant/useSettled'
import { CodeField, useReasonWords } from './CodeField'
import { requestOf, type Draft, type Preview } from './draft'
import { Payment, PlanAndPrice, Start, type Part } from './Parts'
import { Receipt } from './Receipt'
import { Sentence, useButton } from './Sentence'

/** Returns the first currency of a plan: the service's, if the plan has a price in it. */
function firstCurrency(plan: Sold, fallback: string): string {
  return priceOf(plan, fallback) !== undefined ? fallback : plan.prices[0]?.currency ?? fallback
}

/** Returns the cost of a request, and why it is refused. A refused code is left out to know the other amounts. */
function usePreview(tenant: string, body: NewSubscription, isValid: boolean) {
  const settled = useSettled(body)
  const query = useQuery({
    queryKey: ['preview subscription', tenant, settled],
    queryFn: async (): Promise<{ preview: Preview; refused?: string }> => {
      try {
        return { preview: await previewSubscription(tenant, settled) }
      } catch (error) {
        const refused = refusedReason(error)
        if (!refused) throw error
        return { preview: await previewSubscription(tenant, { ...settled, promotion_code: undefined }), refused }
      }
    },
    enabled: isValid, retry: false, staleTime: 60_000, gcTime: 0, placeholderData: keepPreviousData,
  })
  const isCurrent = JSON.stringify(settled) === JSON.stringify(body)
  return { preview: isValid ? query.data?.preview : undefined, refused: isCurrent && !query.isPlaceholderData ? query.data?.refused : undefined, error: isValid && isCurrent ? query.error : null, busy: isValid && (!isCurrent || query.isFetching) }
}

/** The form of a new subscription. It ends with the sentence that it creates. */
export function SubscribeForm({ tenant, plans }: { tenant: Schema<'AdminTenant'>; plans: Sold[] }) {
  const { t } = useLingui()
  const format = useFormat()
  const digits = useDigits()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { default_currency } = useSettings()
  const words = useReasonWords()
  const billing = useQuery(billingQuery(tenant.id)).data
  const first = plans.find((one) => one.prices.some((price) => price.price_cents > 0)) ?? plans[0]!
  const [draft, setDraft] = useState<Draft>({
    plan: first.id, currency: firstCurrency(first, default_currency), seats: String(Math.max(1, tenant.member_count)), custom: false, price: '', trial: false, days: '14', collection: 'card', due: '30', order: '', code: '',
  })
  const change = (to: Partial<Draft>) => setDraft({ ...draft, ...to })
  const plan = plans.find((one) => one.id === draft.plan) ?? first
  const { body, mistakes } = requestOf(draft, plan, tenant.member_count, digits)
  const isValid = Object.keys(mistakes).length === 0
  const { preview, refused, error, busy } = usePreview(tenant.id, body, isValid)
  const price = (draft.custom ? minorUnits(draft.price, digits(draft.currency)) : priceOf(plan, draft.currency)) ?? 0
  const seats = body.quantity ?? 1
  const problem = refused ? words(refused, draft.code, plan.name, draft.currency) : undefined
  const key = useMemo(() => `subscription-${crypto.randomUUID()}`, [JSON.stringify(body)]) // eslint-disable-line react-hooks/exhaustive-deps
  const part: Part = { draft, change, plan, tenant, mistakes, billing }
  const button = useButton({ draft, preview, billing })
  const { owner } = tenant

  async function create() {
    if (!isValid) throw new ApiError(422, Object.values(mistakes)[0]!, undefined, Object.fromEntries(Object.entries(mistakes).map(([name, text]) => [name, [text]])))
    if (problem) throw new ApiError(422, problem, undefined, { promotion_code: [problem] })
    const made = await makeSubscription(tenant.id, body, key).catch((refusal: unknown) => {
      const reason = refusedReason(refusal)
      if (reason) throw new ApiError(422, '', undefined, { promotion_code: [words(reason, draft.code, plan.name, draft.currency)] })
      if (refusal instanceof ApiError && refusal.code === 'currency_mismatch') throw new ApiError(422, refusal.message, refusal.code, { currency: [refusal.message] })
      throw refusal
    })
    await navigate({ to: '/platform/tenants/$tenantId', params: { tenantId: tenant.id }, ignoreBlocker: true })
    await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
    const { name } = made.plan
    toast(made.status === 'incomplete' ? <Trans>The subscription starts with the first payment. The owner received the link by email.</Trans> : <Trans>{tenant.name} is now on {name}.</Trans>)
  }
  return (
    <div className="aside sub-form">
      <Form onSubmit={create} guard>
        {({ busy: sending }) => (
          <>
            <PlanAndPrice {...part} plans={plans} onPlan={(to) => change({ plan: to.id, currency: priceOf(to, draft.currency) !== undefined ? draft.currency : firstCurrency(to, default_currency) })} />
            <Start {...part} />
            <Payment {...part} />
            <section className="form-sec">
              <h2><Trans>Discount</Trans></h2>
              <CodeField code={draft.code} onChange={(code) => change({ code })} problem={problem} busy={busy} discount={preview && preview.discount.cents > 0 ? t`${format.money(preview.discount.cents, preview.discount.currency)} off the first paid period` : undefined} />
            </section>
            <section className="form-sec finish">
              <h2 className="sr"><Trans>Summary</Trans></h2>
              <Refusal error={error} tenant={tenant.id} />
              {preview && !error && <Sentence draft={draft} plan={plan} tenant={tenant.name} seats={seats} preview={preview} />}
              {owner && preview && !error && <p className="muted t13"><Trans>The owner, {owner.name}, gets an email now.</Trans></p>}
              <div className="acts">
                <Button type="submit" look="primary" busy={sending || busy}>{button}</Button>
                <ButtonLink look="quiet" to="/platform/tenants/$tenantId" params={{ tenantId: tenant.id }}><Trans>Cancel</Trans></ButtonLink>
              </div>
            </section>
          </>
        )}
      </Form>
      <Receipt plan={plan} draft={draft} price={price} seats={seats} preview={preview} busy={busy} />
    </div>
  )
}

/** Why the subscription cannot be made, with the way out. */
function Refusal({ error, tenant }: { error: unknown; tenant: string }) {
  if (!error) return null
  if (error instanceof ApiError && error.code === 'billing_not_ready') {
    return (
      <Note tone="warn" role="status" title={<Trans>Billing details are missing</Trans>} actions={<Link className="btn s" to="/platform/tenants/$tenantId" params={{ tenantId: tenant }} search={{ do: 'edit' }}><Trans>Add billing details</Trans></Link>}>
        <Trans>They appear on the invoice.</Trans>
      </Note>
    )
  }
  if (error instanceof ApiError && error.status < 500 && error.status !== 0) return <Note tone="bad" title={<Trans>This subscription is not possible</Trans>}>{Object.values(error.fields)[0]?.[0] ?? error.message}</Note>
  return <Problem error={error} />
}
