import { html, nothing } from 'lit-html'
import { ApiError, type Schema } from './core/client'
import { PlanChange } from './core/change'
import { define, icon, TenantryElement, type Content } from './core/element'
import { loadDecimals } from './core/format'
import { canChange } from './core/pay'
import { currencyOfRegion, each, firstCurrency, intervalOf, per, planWithSeats, priceOf } from './core/plans'
import { pricing as texts } from './texts/pricing'
import base from './core/base.css'
import own from './pricing.css'

type Plan = Schema<'Plan'>

/** What only somebody has who is signed in. */
interface Own {
  tenant: Schema<'Tenant'>
  subscription: Schema<'Subscription'> | null
  offered: Schema<'OfferedPlan'>[]
}

interface Catalog {
  plans: Plan[]
  products: Schema<'Product'>[]
  currency: string
  own: Own | null
}

/** How often and for how long the service is asked whether the provider has told of a payment. */
const every = 2000
const atMost = 30

/** <tenantry-pricing>: the plans on sale in the reader's currency and language, to be chosen. */
export class TenantryPricing extends TenantryElement<Catalog> {
  static override properties = {
    ...super.properties,
    plans: { attribute: 'plans' }, product: { attribute: 'product' }, currency: { attribute: 'currency' }, interval: { attribute: 'interval' },
    checkoutUrl: { attribute: 'checkout-url' }, anonymous: { attribute: 'anonymous', type: 'boolean' as const }, shownInterval: {}, shownCurrency: {},
  }
  static override styles = base + own

  /** The slugs of the plans to show, with commas between; all without it. */
  declare plans?: string
  /** The slug of the product whose plans are shown. */
  declare product?: string
  /** The currency to begin with. */
  declare currency?: string
  /** The interval to begin with: month, year, 3-month. */
  declare interval?: string
  /** Where somebody goes on who has chosen and is not signed in; {plan}, {currency} and {interval} are filled in. */
  declare checkoutUrl?: string
  /** Never asks who is signed in. */
  declare anonymous: boolean
  declare private shownInterval?: string
  declare private shownCurrency?: string

  private timer?: ReturnType<typeof setInterval>

  protected override heading(): string {
    return this.t(texts.plans)
  }

  override connectedCallback(): void {
    super.connectedCallback()
    if (new URLSearchParams(location.search).get('checkout') === 'paid') this.wait()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearInterval(this.timer)
  }

  /** Reads until the provider has told of the payment from which somebody comes back. */
  private wait(): void {
    let count = 0
    this.timer = setInterval(() => {
      if (++count > atMost || this.data?.own?.subscription) clearInterval(this.timer)
      else void this.reload()
    }, every)
  }

  protected override async read(): Promise<Catalog> {
    const [{ data: plans }, { data: products }, { data: settings }, own] = await Promise.all([
      this.client.get<{ data: Plan[] }>('/catalog/plans'), this.client.get<{ data: Schema<'Product'>[] }>('/catalog/products'),
      this.client.get<{ data: Schema<'Settings'> }>('/settings'), this.own(), loadDecimals(this.client),
    ])
    const slugs = this.plans?.split(',').map((one) => one.trim())
    const product = products.find((one) => one.slug === this.product)
    const shown = plans.filter((one) => (!slugs || slugs.includes(one.slug)) && (!this.product || one.product_id === product?.id)).sort((a, b) => a.sort_order - b.sort_order)
    const fixed = own?.subscription?.currency
    const currency = fixed ?? firstCurrency(shown, [this.shownCurrency, this.currency?.toUpperCase()], [own?.tenant.preferred_currency, currencyOfRegion(), settings.default_currency])
    if (own) own.offered = (await this.client.get<{ data: Schema<'OfferedPlan'>[] }>(`/tenant/${own.tenant.id}/plans?currency=${currency}`)).data
    return { plans: shown, products, currency, own }
  }

  /** Reads what the reader has, or nothing where nobody is signed in. */
  private async own(): Promise<Own | null> {
    if (this.anonymous || !this.client.mayHaveLogin()) return null
    try {
      const { data: tenant } = await this.client.get<{ data: Schema<'Tenant'> }>('/tenant')
      const { data: subscription } = await this.client.get<{ data: Schema<'Subscription'> | null }>(`/tenant/${tenant.id}/subscription`)
      return { tenant, subscription, offered: [] }
    } catch (error) {
      // Nobody, or somebody without an organization: the plans are for everybody.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) return null
      throw error
    }
  }

  protected override show(data: Catalog): Content {
    const { plans, products, currency, own } = data
    if (plans.length === 0) return html`<div class="head">${this.headed(this.heading())}</div>${this.empty(this.t(texts.none), this.t(texts.noneText))}`
    const current = own?.subscription && plans.find((one) => one.id === own.subscription?.plan.id)
    const intervals = [...new Map(plans.map((plan) => [intervalOf(plan), plan])).entries()]
    const wish = (value?: string) => intervals.find(([one]) => one === value || one === `1-${value}`)?.[0]
    const interval = wish(this.shownInterval) ?? wish(this.interval) ?? (current ? intervalOf(current) : undefined) ?? intervals[0]![0]
    const groups = products.map((product) => ({ product, plans: plans.filter((one) => one.product_id === product.id && intervalOf(one) === interval) })).filter((one) => one.plans.length > 0)
    const currencies = [...new Set(plans.flatMap((plan) => plan.prices.map((price) => price.currency)))].sort()
    const chooseCurrency = (event: Event) => this.showIn((event.target as HTMLSelectElement).value)
    return html`
      <div class="head">${this.headed(this.t(texts.plans))}<div class="tools">
        ${intervals.length > 1 ? html`<div class="seg" part="intervals" role="group" aria-label=${this.t(texts.paid)}>${intervals.map(([value, plan]) =>
          html`<button type="button" part="interval" aria-pressed=${value === interval} @click=${() => { this.shownInterval = value }}>${each(this.t, plan)}</button>`)}</div>` : nothing}
        ${currencies.length > 1 && !own?.subscription ? html`<select class="input select" part="input" aria-label=${this.t(texts.currency)} @change=${chooseCurrency}>
          ${currencies.map((code) => html`<option value=${code} .selected=${code === currency}>${this.format.currency(code)}</option>`)}</select>` : nothing}</div></div>
      ${this.outcome(own)}
      ${groups.map(({ product, plans }) => html`<div class="sec">${groups.length > 1 ? html`${this.headed(product.name, 1)}${product.description ? html`<p class="muted">${product.description}</p>` : nothing}` : nothing}
        <ul class="offers" part="plans">${plans.map((plan) => this.offer(plan, data, groups.length > 1 ? 2 : 1))}</ul></div>`)}`
  }

  /** What came of the provider's page that one comes back from. */
  private outcome(own: Own | null): Content {
    const how = new URLSearchParams(location.search).get('checkout')
    if (how === 'left') return html`<div class="said">${this.note('', this.t(texts.left), this.t(texts.leftText))}</div>`
    if (how !== 'paid') return nothing
    const { subscription } = own ?? {}
    return html`<div class="said" role="status">${subscription && subscription.status !== 'incomplete'
      ? this.note('good', this.t(texts.current, { what: this.what(subscription) })) : this.note('', this.t(texts.paying), this.t(texts.payingText), undefined, 'clock')}</div>`
  }

  /** Whether a plan begins with a trial: a tenant that has had one gets no other. */
  private hasTrial(plan: Plan, own: Own | null): boolean {
    return own ? own.offered.some((one) => one.id === plan.id && one.trial_days > 0) : plan.trial_days > 0
  }

  /** Shows the prices in a currency that was chosen. */
  private showIn(currency: string): void {
    this.shownCurrency = currency
    void this.reload()
  }

  private what({ plan, quantity }: Schema<'Subscription'>): string {
    return planWithSeats(this.t, plan.name, plan.pricing_type, quantity)
  }

  private offer(plan: Plan, data: Catalog, level: number): Content {
    const { currency, own } = data
    const now = plan.id === own?.subscription?.plan.id
    // The price of the running subscription holds, whatever the plan costs by now.
    const cents = now ? own?.subscription?.price_cents : plan.prices.find((one) => one.currency === currency)?.price_cents
    // What has a limit in one plan is unlimited in another that includes it without a number.
    const limited = new Set(data.plans.flatMap((one) => one.entitlements.filter((of) => of.type === 'quota').map((of) => of.feature.code)))
    const meters = plan.meters.filter((one) => one.currency === currency)
    const item = (text: string) => html`<li>${icon('check')}<span>${text}</span></li>`
    const value = ({ type, value: amount, feature: { name, code } }: Schema<'PlanEntitlement'>) =>
      type === 'boolean' && !limited.has(code) ? name : this.t(texts.value, { name, amount: amount === null || type === 'boolean' ? this.t(texts.unlimited) : this.format.number(amount) })
    return html`<li class="offer ${now ? 'now' : ''}" part="plan ${now ? 'current-plan' : ''}">
      <div class="top">${this.headed(plan.name, level)}${now ? html`<span class="tag" part="tag">${this.t(texts.now)}</span>` : nothing}</div>
      ${plan.description ? html`<p class="muted">${plan.description}</p>` : nothing}
      <div class="p" part="price">${cents === undefined ? html`<span class="muted">${this.t(texts.notSold, { currency })}</span>
        ${own?.subscription ? nothing : plan.prices.map((one) => html`<button type="button" class="btn s quiet" part="button" @click=${() => this.showIn(one.currency)}>${this.t(texts.showIn, { currency: one.currency })}</button>`)}` : html`<b>${priceOf(this.t, this.format, cents, currency)}</b>
        ${cents > 0 || plan.pricing_type === 'usage' ? html`<span class="muted">${per(this.t, plan)}</span>` : nothing}`}
        ${plan.pricing_type === 'usage' && cents !== undefined ? meters.length === 0 ? html`<p class="help">${this.t(texts.beyond)}</p>` : meters.map((one) =>
          html`<p class="help">${this.t(/^[A-Za-z]{1,3}$/.test(one.unit_label ?? '') ? texts.meter : texts.meterEach, { name: one.name, amount: this.format.unitPrice(one.unit_price_cents, currency), unit: one.unit_label ?? '' })}</p>`) : nothing}</div>
      <ul part="features">${this.hasTrial(plan, own) && !own?.subscription ? item(this.t(texts.trial, { count: plan.trial_days })) : nothing}${plan.entitlements.map((one) => item(value(one)))}</ul>
      <div class="foot">${cents === undefined || (now && plan.pricing_type !== 'seat') ? nothing : this.action(plan, cents, data)}</div></li>`
  }

  /** The way to a plan, or why there is none. */
  private action(plan: Plan, cents: number, { currency, own }: Catalog): Content {
    const now = plan.id === own?.subscription?.plan.id
    const text = this.t(now ? texts.seats : !own?.subscription && this.hasTrial(plan, own) ? texts.try : texts.choose, { name: plan.name })
    const detail = { plan: plan.slug, plan_id: plan.id, interval: intervalOf(plan), currency, price_cents: cents }
    const offered = own?.offered.find((one) => one.id === plan.id)
    const url = this.checkoutUrl ?? (own ? undefined : this.address('/onboarding?plan={plan}&currency={currency}'))
    const filled = url && new URL(url.replace(/\{(plan|currency|interval)\}/g, (_, name: 'plan') => encodeURIComponent(detail[name])), location.href).href
    if (own && !filled) {
      if (!own.tenant.user_permissions.includes('billing.manage')) return nothing
      const change = new PlanChange(this, own.tenant, own.subscription)
      if (now && !canChange(own.subscription)) return nothing
      const why = offered && !now && change.hindrance(offered)
      if (!offered || why) return html`<p class="help">${why}</p>`
      const choose = async () => {
        if (this.emit('tenantry-choose', { ...detail, url: null }, true)) await change.ask(offered, currency)
      }
      return this.doing(`choose-${plan.id}`, text, choose, now ? { look: 'block' } : { look: 'primary block', part: 'button primary' })
    }
    if (now) return nothing
    // A link, so that it can be opened beside; the page may take over.
    const choose = (event: Event) => {
      if (!this.emit('tenantry-choose', { ...detail, url: filled }, true)) event.preventDefault()
    }
    return html`<a class="btn primary block" part="button primary" href=${filled!} @click=${choose}>${text}</a>`
  }
}

define('tenantry-pricing', TenantryPricing)
