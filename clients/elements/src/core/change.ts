import { html, nothing } from 'lit-html'
import { change as texts } from '../texts/change'
import { plans } from '../texts/plans'
import { shared } from '../texts/shared'
import { ApiError, type Schema } from './client'
import type { Content, FormState, TenantryElement } from './element'
import { canChange, leave } from './pay'
import { each } from './plans'

type Offered = Schema<'OfferedPlan'>
type Subscription = Schema<'Subscription'>

/** Where the provider's page leads back to: this page, with what became of the payment. */
function back(how: 'paid' | 'left'): string {
  const url = new URL(location.href)
  url.searchParams.set('checkout', how)
  return url.href
}

/** The amounts of a preview that not every version of the service has. */
interface Amounts {
  balance_applied?: { cents: number }
  due_now?: { cents: number }
  next_billing_at?: string | null
  next_amount?: { cents: number } | null
  next_due?: { cents: number } | null
}

/** What a change charges now after the balance, and the next regular bill. */
function amountsOf(preview: Schema<'ChangePreview'> & Amounts) {
  return {
    applied: preview.balance_applied?.cents ?? 0, dueNow: preview.due_now?.cents ?? Math.max(0, preview.net.cents),
    nextAt: preview.next_billing_at ?? undefined, nextAmount: preview.next_amount?.cents, nextDue: preview.next_due?.cents,
  }
}

/** Buys a first plan or changes to another one: shows what it costs, and asks before anything is charged. */
export class PlanChange {
  private seats = 1
  private least = 1
  private preview?: Schema<'ChangePreview'>
  private refused?: unknown
  private round = 0

  constructor(private readonly host: TenantryElement<any>, private readonly tenant: Schema<'Tenant'>, private readonly subscription: Subscription | null) {}

  /** Why a plan cannot be chosen, or nothing. */
  hindrance(plan: Offered): Content {
    const { host: { t, format } } = this
    const { selectable, reason, violations } = plan.eligibility
    if (plan.is_default && !this.subscription) return t(texts.yours)
    if (!plan.is_default && plan.prices.length === 0) return t(texts.noPrice)
    if (!plan.is_default && selectable) return undefined
    if (!plan.is_default && (reason || violations.length === 0)) return t(texts.notSold)
    return [t(plan.is_default ? texts.standard : texts.tooSmall), ...violations.map((one) => html` ${t(texts.violation, {
      feature: plan.features.find(({ code }) => code === one.feature_code)?.name ?? one.feature_code,
      used: format.number(one.current_usage), limit: format.number(one.plan_limit),
    })}`)]
  }

  /** Asks whether the plan shall be bought or changed to, with its receipt. */
  async ask(plan: Offered, currency: string): Promise<void> {
    const { host, subscription } = this
    if (plan.pricing_type === 'seat') {
      const { data } = await host.client.get<{ data: Schema<'TeamStats'> }>(`/tenant/${this.tenant.id}/team/stats`)
      this.least = Math.max(1, data.members)
    }
    this.seats = plan.pricing_type === 'seat' ? Math.max(this.least, subscription?.quantity ?? 1) : 1
    this.preview = this.refused = undefined
    if (canChange(subscription) && !this.unchanged(plan)) void this.compute(plan)
    host.ask({
      title: host.t(plan.id === subscription?.plan.id ? texts.seats : subscription ? texts.from : texts.begin, { what: plan.name, name: plan.name }),
      body: (state) => this.body(plan, currency, state),
      action: () => this.label(plan, currency),
      submit: () => this.send(plan, currency),
    })
  }

  /** The plan and the seats are those of the subscription. */
  private unchanged(plan: Offered): boolean {
    return plan.id === this.subscription?.plan.id && this.seats === this.subscription.quantity
  }

  private get quantity(): string {
    return `&quantity=${this.seats}`
  }

  private async compute(plan: Offered): Promise<void> {
    const round = ++this.round
    try {
      const { data } = await this.host.client.get<{ data: Schema<'ChangePreview'> }>(
        `/tenant/${this.tenant.id}/subscription/preview-change?new_plan_id=${plan.id}${plan.pricing_type === 'seat' ? this.quantity : ''}`,
      )
      if (round === this.round) [this.preview, this.refused] = [data, undefined]
    } catch (error) {
      if (round === this.round) [this.preview, this.refused] = [undefined, error]
    }
    this.host.requestUpdate()
  }

  private label(plan: Offered, currency: string): string {
    const { host: { t, format }, subscription } = this
    if (this.unchanged(plan)) return t(shared.close)
    const pay = this.preview ? amountsOf(this.preview).dueNow : (plan.prices[0]?.price_cents ?? 0) * this.seats
    const name = plan.id === subscription?.plan.id ? t(plans.seats, { count: this.seats }) : plan.name
    const values = { name, amount: format.money(pay, currency) }
    if (subscription) return t(pay > 0 ? texts.pay : texts.noPay, values)
    return t(plan.trial_days > 0 ? texts.begin : pay > 0 ? texts.goPay : texts.beginFree, values)
  }

  private readonly count = (plan: Offered) => (event: Event) => {
    this.seats = Math.max(this.least, Math.min(100_000, Math.floor(Number((event.target as HTMLInputElement).value)) || 1))
    if (canChange(this.subscription)) {
      this.preview = this.refused = undefined
      this.round++
      if (!this.unchanged(plan)) void this.compute(plan)
    }
    this.host.requestUpdate()
  }

  private body(plan: Offered, currency: string, state: FormState): Content {
    const { host } = this
    const { t } = host
    const seats = plan.pricing_type === 'seat' && html`<div class="field"><label for="seats">${t(texts.seats)}</label>
      <input class="input" part="input" id="seats" type="number" min=${this.least} max="100000" value=${this.seats} aria-describedby="seats-below" @change=${this.count(plan)} />
      <p class="help" id="seats-below">${t(texts.people, { count: this.least })}</p></div>`
    const code = state.error instanceof ApiError ? state.error.code : undefined
    const more = this.refused instanceof Error ? host.note('bad', this.refused.message)
      : code === 'billing_not_ready' ? host.note('warn', t(texts.missing), t(texts.missingText))
        : code === 'preview_outdated' ? host.note('warn', t(texts.outdated), t(texts.outdatedText))
          : code === 'plan_change_error' ? t(texts.declined) : nothing
    return [seats || nothing, html`<div aria-live="polite">${this.receipt(plan, currency)}</div>`, more]
  }

  private receipt(plan: Offered, currency: string): Content {
    const { host: { t, format }, subscription, preview } = this
    const money = (cents: number) => format.money(cents, currency)
    const line = (name: string, amount: string, small: Content = nothing, look = '') =>
      html`<div class=${look}><dt>${name}${small ? html`<small>${small}</small>` : nothing}</dt><dd>${amount}</dd></div>`
    const price = (plan.id === subscription?.plan.id ? subscription.price_cents : plan.prices[0]?.price_cents) ?? 0
    const regular = money(price * this.seats)
    const times = this.seats > 1 ? `${format.number(this.seats)} × ${money(price)}` : undefined
    const time = each(t, plan)
    const lines = (...all: Content[]) => html`<dl class="receipt">${all}</dl>`
    if (!canChange(subscription)) {
      return lines(
        line(plan.name, `${regular} ${time}`, times),
        plan.trial_days > 0 ? line(t(texts.trial), t(texts.trialDays, { count: plan.trial_days })) : nothing,
        plan.pricing_type === 'usage' ? line(t(texts.usage), t(texts.usageText)) : nothing,
        line(t(plan.trial_days > 0 ? texts.afterTrial : texts.now), regular, nothing, 'sum'),
      )
    }
    if (this.unchanged(plan)) return lines(line(plan.name, `${regular} ${time}`, times))
    if (!preview) return this.refused ? nothing : html`<div class="skel"><i></i><i></i><i></i></div>`
    const { breakdown, charge, credit, net } = preview
    const { applied, dueNow, nextAt, nextAmount = price * this.seats, nextDue = nextAmount } = amountsOf(preview)
    const pending = breakdown.pending.cents
    const usage = breakdown.usage.cents
    // The charge includes the usage so far and what waited for the next invoice, which is in the credit if it is below zero.
    const returned = credit.cents - Math.max(0, -pending)
    const days = breakdown.method === 'psp_preview' ? t(texts.left, { left: breakdown.days_remaining, total: breakdown.total_days }) : undefined
    // With another interval, a new period starts and is charged in full.
    const restarts = subscription.status !== 'trialing' && (plan.interval_unit !== subscription.interval_unit || plan.interval_count !== subscription.interval_count)
    const covers = restarts ? `${times ?? money(price)} ${time}` : times && days && subscription.status !== 'trialing' ? `${times}, ${days}` : days ?? times
    return [lines(
      line(plan.name, money(charge.cents - Math.max(0, pending) - usage), covers),
      returned > 0 ? line(t(texts.back, { name: subscription.plan.name }), money(-returned), days) : nothing,
      pending !== 0 ? line(t(texts.waiting), money(pending), t(texts.waitingText)) : nothing,
      usage > 0 ? line(t(texts.usageSoFar), money(usage), t(texts.usageGrows)) : nothing,
      applied > 0 ? line(t(texts.balance), money(-applied)) : nothing,
      net.cents >= 0 ? line(t(texts.now), money(dueNow), nothing, 'sum') : line(t(texts.credit), money(-net.cents), nothing, 'sum'),
      plan.pricing_type === 'usage' ? line(t(texts.usage), t(texts.usageText)) : nothing,
      line(t(texts.next), money(nextAmount), nextAt ? format.day(nextAt) : time),
      nextDue < nextAmount ? line(t(texts.balance), money(nextDue - nextAmount)) : nothing,
      nextDue < nextAmount ? line(t(texts.charged), money(nextDue)) : nothing,
    ), html`<p class="help">${t(texts.hold)}</p>`]
  }

  private async send(plan: Offered, currency: string): Promise<void> {
    const { host, tenant, subscription } = this
    if (this.unchanged(plan)) return
    const path = `/tenant/${tenant.id}`
    const quantity = plan.pricing_type === 'seat' ? this.seats : undefined
    const urls = { success_url: back('paid'), cancel_url: back('left') }
    if (!subscription) {
      const { data } = await host.client.call<{ data: Schema<'Checkout'> }>('POST', `${path}/checkout`, { plan_id: plan.id, currency, quantity, ...urls })
      return leave(data.url)
    }
    if (canChange(subscription) && !this.preview) throw this.refused ?? new ApiError(409, host.t(texts.openText))
    try {
      const { data } = await host.client.call<{ data: Schema<'PlanChange'> }>('POST', `${path}/subscription/change-plan`, { new_plan_id: plan.id, quantity, ...urls })
      const page = data.checkout_url ?? data.payment_action?.url
      if (page) return await leave(page)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'preview_outdated' && error.body.preview) this.preview = error.body.preview as Schema<'ChangePreview'>
      throw error
    }
    await host.change('subscription', async () => {}, host.t(texts.done, { name: plan.name }))
  }
}
