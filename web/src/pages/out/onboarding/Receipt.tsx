import { plural } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import { PromotionCode, readWithCode } from '../../../parts/PromotionCode'
import type { Choice } from '../Onboarding'

/** Returns what the choice costs today and later. */
export function useCosts(plan: Schema<'Plan'>, choice: Choice) {
  const price = plan.prices.find((one) => one.currency === choice.currency)?.price_cents ?? 0
  const seats = plan.pricing_type === 'seat' ? choice.seats : 1
  const regular = price * seats
  const start = new Date(now() + plan.trial_days * 86_400_000)
  return { price, seats, regular, today: plan.trial_days > 0 ? 0 : regular, start, free: regular === 0 && plan.pricing_type !== 'usage' }
}

/** The details that decide the tax. */
export interface TaxDetails {
  country?: string | null
  vat_number?: string | null
}

/** The costs as the service calculates them, and the reason if it refused the promotion code. */
export type Purchase = UseQueryResult<{ data: Schema<'PurchasePreview'>; refused?: string }>

/**
 * Returns the costs with the tax of the country and the promotion code. There are no data without
 * a country or a code, for a free plan, and if the details are not valid yet.
 */
export function usePurchase(plan: Schema<'Plan'>, choice: Choice, { country, vat_number }: TaxDetails): Purchase {
  const { free } = useCosts(plan, choice)
  const body = {
    plan_slug: plan.slug, currency: choice.currency, quantity: plan.pricing_type === 'seat' ? choice.seats : undefined,
    country: country || undefined, vat_number: (country && vat_number) || undefined,
  }
  return useQuery({
    queryKey: ['onboarding', 'preview', body, choice.code],
    queryFn: () => readWithCode(choice.code, async (promotion_code) => (await api.POST('/api/v1/onboarding/preview', { body: { ...body, promotion_code } })).data!.data),
    enabled: !free && (!!country || !!choice.code), retry: false, staleTime: 60_000, placeholderData: keepPreviousData,
  })
}

/** Returns the code to send: none if it was refused. */
export const codeOf = (choice: Choice, purchase: Purchase) => (purchase.data?.refused ? undefined : choice.code)

/** Returns the amount of the first payment, today or after the trial. */
export function firstPayment(plan: Schema<'Plan'>, regular: number, purchase: Purchase): number {
  const preview = purchase.data?.data
  return preview ? (plan.trial_days > 0 ? preview.total.cents : preview.due_now.cents) : regular
}

/** Reports whether the plan has a trial that starts without a card. */
export const isCardFree = (plan: Schema<'Plan'>) => plan.trial_days > 0 && !plan.trial_requires_card

/** The costs of the choice as a small receipt. */
export function Receipt({ plan, choice, tenant, purchase }: { plan: Schema<'Plan'>; choice: Choice; tenant?: string; purchase: Purchase }) {
  const navigate = useNavigate()
  const format = useFormat()
  const words = usePlanWords()
  const costs = useCosts(plan, choice)
  const preview = purchase.data?.data
  const isDiscounted = preview && preview.discount.cents > 0 && preview.next_amount.cents === preview.total.cents
  const code = choice.code?.toUpperCase()
  const vat = preview?.tax && preview.tax.cents > 0 ? format.money(preview.tax.cents, preview.tax.currency) : undefined
  const money = (cents: number) => format.money(cents, choice.currency)
  const end = format.day(costs.start)
  const seatPlan = plan.pricing_type === 'seat'
  const seats = plural(costs.seats, { one: '# seat', other: '# seats' })
  return (
    <aside className="receipt" aria-live="polite">
      <h2>{seatPlan ? `${plan.name}, ${seats}` : plan.name}</h2>
      {tenant && <p className="help"><Trans>For {tenant}</Trans></p>}
      <dl>
        <div>
          <dt>{seatPlan ? <>{seats} × {money(costs.price)}</> : plan.name}<small>{words.each(plan)}</small></dt>
          <dd>{money(costs.regular)}</dd>
        </div>
        {preview && preview.discount.cents > 0 && <div><dt>{code}<small><Trans>Promotion code</Trans></small></dt><dd>{money(-preview.discount.cents)}</dd></div>}
        {preview?.reverse_charge ? <div><dt><Trans>VAT</Trans><small><Trans>Reverse charge</Trans></small></dt><dd>{money(0)}</dd></div>
          : vat && <div><dt><Trans>VAT included</Trans></dt><dd>{vat}</dd></div>}
        {plan.trial_days > 0 && (
          <div>
            <dt>{plural(plan.trial_days, { one: '#-day trial', other: '#-day trial' })}</dt>
            <dd>{money(-(preview?.total.cents ?? costs.regular))}</dd>
          </div>
        )}
        <div className="sum"><dt><Trans>Today</Trans></dt><dd>{money(preview?.due_now.cents ?? costs.today)}</dd></div>
        <div className="next">
          <dt>{plan.trial_days > 0 ? <Trans>From {format.day(costs.start)}</Trans> : <Trans>After that</Trans>}<small>{isDiscounted ? <Trans>{words.each(plan)}, while the promotion code applies</Trans> : isCardFree(plan) ? <Trans>{words.each(plan)}, if you add a card</Trans> : <Trans>{words.each(plan)}, until you cancel</Trans>}</small></dt>
          <dd>{money(preview?.next_amount.cents ?? costs.regular)}</dd>
        </div>
      </dl>
      {!costs.free && (
        <PromotionCode
          code={choice.code} refused={purchase.data?.refused} busy={purchase.isFetching} plan={plan.name} currency={choice.currency}
          discount={preview && preview.discount.cents > 0 ? money(preview.discount.cents) : undefined}
          onChange={(to) => void navigate({ to: '/onboarding', replace: true, resetScroll: false, search: (before: Record<string, string | undefined>) => ({ ...before, code: to }) })}
        />
      )}
      {isCardFree(plan) && !costs.free && <p className="help"><Trans>No card needed. Without a card, the trial ends on {end} and nothing is charged.</Trans></p>}
      {preview?.tax === undefined || preview.tax === null ? <p className="help"><Trans>Taxes, if any, are shown before you pay.</Trans></p> : null}
    </aside>
  )
}
