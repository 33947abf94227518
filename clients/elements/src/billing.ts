import { html, nothing } from 'lit-html'
import { ApiError, type Schema } from './core/client'
import { leftToPay, nextBill } from './core/bill'
import { loadDecimals } from './core/format'
import { canChange, leave } from './core/pay'
import { define, status, TenantryElement, type Content, type Values } from './core/element'
import { each, planWithSeats } from './core/plans'
import { billing as texts } from './texts/billing'
import base from './core/base.css'
import rows from './core/rows.css'
import own from './billing.css'

type Invoice = Schema<'Invoice'>
type Subscription = Schema<'Subscription'>

interface Billing {
  tenant: Schema<'Tenant'>
  subscription: Subscription | null
  open: Invoice[]
  invoices: Invoice[]
  total: number
  /** What usage comes to so far, for a plan that is billed by it. */
  usage: number
  balance?: Schema<'Money'>
}

interface Paged<T> {
  data: T
  meta: { total: number }
}

/** <tenantry-billing>: the plan, the next payment, what is open, the end of the subscription, and the invoices. */
export class TenantryBilling extends TenantryElement<Billing> {
  static override properties = { ...super.properties, plansUrl: { attribute: 'plans-url' }, returnUrl: { attribute: 'return-url' }, shownInvoices: {} }
  static override styles = base + rows + own

  /** Where the plans are; without it they are chosen here. */
  declare plansUrl?: string
  /** Where the provider's pages lead back to, of the frontend's host; else this page. */
  declare returnUrl?: string
  declare private shownInvoices: number

  constructor() {
    super()
    this.shownInvoices = 5
  }

  protected override heading(): string {
    return this.t(texts.billing)
  }

  protected override async read(): Promise<Billing> {
    const { data: tenant } = await this.client.get<{ data: Schema<'Tenant'> }>('/tenant')
    const path = `/tenant/${tenant.id}`
    const [{ data: subscription }, open, invoices, balance] = await Promise.all([
      this.client.get<{ data: Subscription | null }>(`${path}/subscription`),
      this.client.get<Paged<Invoice[]>>(`${path}/invoices?status=open&per_page=5`),
      this.client.get<Paged<Invoice[]>>(`${path}/invoices?per_page=${this.shownInvoices}`),
      this.balance(tenant), loadDecimals(this.client),
    ])
    const usage = subscription?.plan.pricing_type === 'usage'
      ? (await this.client.get<{ data: Schema<'CostEstimate'> }>(`${path}/usage/cost-estimate`)).data.total_amount_cents : 0
    // The invoice of a pending change is not due before the change is confirmed.
    const pending = subscription?.pending_change?.payment_action?.url
    const due = pending ? open.data.filter((one) => one.payment_action?.url !== pending) : open.data
    return { tenant, subscription, open: due, invoices: invoices.data, total: invoices.meta.total, usage, balance }
  }

  /** The balance that the next invoices use, for members who may manage the billing. While the provider is away nothing is known of it. */
  private async balance({ id, user_permissions: may }: Schema<'Tenant'>): Promise<Schema<'Money'> | undefined> {
    if (!may.includes('billing.manage')) return undefined
    return this.client.get<{ data: Schema<'CustomerCredit'> }>(`/tenant/${id}/credit`).then(({ data }) => data.balance, () => undefined)
  }

  protected override show(data: Billing): Content {
    const { tenant, subscription, open, invoices, total } = data
    const manages = tenant.user_permissions.includes('billing.manage')
    const unfinished = subscription?.status === 'incomplete' && open.length === 0 ? subscription.payment_action : null
    const urgent = [
      ...open.map((one) => this.due(one, data, manages)),
      unfinished ? this.note('bad', this.t(texts.unfinished), this.t(texts.unfinishedText), this.link(this.t(texts.finish), unfinished.url)) : nothing,
      subscription?.pending_change ? this.waiting(subscription.pending_change, data, manages) : nothing,
    ].filter((one) => one !== nothing)
    const [sentence, why] = this.sentence(data)
    return html`${urgent.length > 0 ? html`<div class="stack said">${urgent}</div>` : nothing}
      <div class="lead" part="plan">${this.headed(sentence)}<p>${why}</p>
        ${manages ? html`<div class="acts">${this.choose(data)}${subscription ? this.portal(data, this.t(texts.portal)) : nothing}${this.ending(data)}</div>` : nothing}</div>
      <div class="sec">${this.headed(this.t(texts.invoices), 1)}
        ${invoices.length === 0 ? this.empty(this.t(texts.noInvoices), this.t(texts.noInvoicesText), undefined, 2) : html`<ul class="rows" part="list">${invoices.map((one) => this.invoice(one, data, manages))}</ul>`}
        ${total > invoices.length && this.shownInvoices < 100 ? html`<p>${this.button(this.t(texts.more), () => this.more(), { look: 'quiet s' })}</p>` : nothing}</div>`
  }

  private link(text: string, href: string, look = 'primary'): Content {
    return html`<a class="btn ${look}" part="button ${look}" href=${href}>${text}</a>`
  }

  /** The plan and the next payment in one sentence, and below why it is that much. */
  private sentence({ tenant, subscription, open, usage, total, balance }: Billing): [string, string] {
    const { format, t } = this
    if (!subscription) return total > 0 ? [t(texts.former, { name: tenant.name }), t(texts.formerText)] : [t(texts.none, { name: tenant.name }), t(texts.noneText)]
    const { plan, currency } = subscription
    const regular = subscription.price_cents * subscription.quantity
    const bill = nextBill(subscription, usage, balance)
    const runs = subscription.status === 'active' || subscription.status === 'trialing'
    const sum = (invoices: Invoice[]) => invoices.reduce((all, one) => all + leftToPay(one).amount_cents, 0)
    // A debit in progress asks nothing of anybody.
    const [due, inProgress] = [sum(open.filter((one) => one.payment_action)), sum(open.filter((one) => !one.payment_action))]
    const values = {
      what: planWithSeats(t, plan.name, plan.pricing_type, subscription.quantity), each: each(t, subscription),
      price: format.money(subscription.price_cents, currency), base: format.money(regular, currency), extra: format.money(usage, currency),
      total: format.money(bill.total, currency), charged: format.money(bill.charged ?? 0, currency), applied: format.money(bill.applied ?? 0, currency), renewal: format.day(subscription.current_period_end),
      owed: format.money(due || inProgress, open[0]?.total.currency ?? currency), end: format.day(subscription.cancel_at ?? subscription.trial_ends_at ?? subscription.current_period_end),
    }
    const seat = plan.pricing_type === 'seat'
    if (due > 0) return [t(texts.due, values), t(!runs ? texts.duePaused : subscription.cancel_at ? texts.endsOn : texts.dueActive, { ...values, name: plan.name })]
    if (!runs && inProgress > 0) return [t(texts.inProgress, values), t(texts.inProgressText)]
    if (subscription.cancel_at) return [t(texts.ends, values), t(texts.endsText)]
    if (subscription.status === 'trialing') return [t(texts.freeUntil, values), t(seat ? texts.trialSeats : texts.trialText, values)]
    if (subscription.status === 'paused' || subscription.status === 'unpaid') return [t(texts.paused, values), t(texts.pausedText)]
    if (regular + usage === 0) return [t(texts.isFree, values), t(texts.freeText, values)]
    const why = t(plan.pricing_type === 'usage' ? texts.usageText : seat ? texts.seatText : texts.text, values)
    if (bill.charged === undefined || bill.applied === undefined) return [t(texts.each, values), why]
    if (bill.charged === 0) return [t(texts.nothing, values), bill.applied > 0 ? t(texts.fromBalance, values) : why]
    return [t(texts.on, { ...values, total: values.charged }), bill.applied > 0 ? `${why} ${t(texts.fromBalance, values)}` : why]
  }

  /** An invoice that waits for its payment, with what to do. */
  private due(invoice: Invoice, data: Billing, manages: boolean): Content {
    const values = { amount: this.format.sum(leftToPay(invoice)), period: invoice.number }
    if (!invoice.payment_action) return this.note('', this.t(texts.underWay, values), this.t(texts.underWayText), undefined, 'clock')
    const confirm = invoice.payment_action.type === 'confirm'
    return this.note('bad', this.t(texts.open, values), `${this.t(confirm ? texts.confirmText : texts.openText)} ${manages ? '' : this.t(texts.others)}`,
      manages ? [confirm ? nothing : this.portal(data, this.t(texts.card)), this.pay(invoice, data, 'primary', this.t(texts.payAmount, values))] : undefined)
  }

  /** A change of plan that the bank wants to be confirmed, or that takes effect at the end of the period. */
  private waiting(change: Schema<'PendingChange'>, { tenant }: Billing, manages: boolean): Content {
    const { name } = change.plan
    const drop = () => this.change('subscription', () => this.client.call('DELETE', `/tenant/${tenant.id}/subscription/pending-change`), this.t(texts.dropped, { name }))
    if (change.effective_at) {
      return this.note('', this.t(texts.scheduled, { name, end: this.format.day(change.effective_at) }), this.t(texts.scheduledText),
        manages ? [this.doing('drop', this.t(texts.drop), drop)] : undefined, 'clock')
    }
    return this.note('warn', this.t(texts.pending, { name }), this.t(texts.pendingText, { end: this.format.day(change.expires_at ?? '') }),
      manages ? [this.doing('drop', this.t(texts.drop), drop), change.payment_action ? this.link(this.t(texts.confirm), change.payment_action.url) : nothing] : undefined)
  }

  private pay(invoice: Invoice, data: Billing, look: string, text: string): Content {
    if (invoice.payment_action?.type === 'confirm') return this.link(this.t(texts.confirm), invoice.payment_action.url, look)
    const amount = this.format.sum(leftToPay(invoice))
    const pay = async () => {
      let paid: Invoice | undefined
      try {
        await this.change('invoice', async () => {
          paid = (await this.client.call<{ data: Invoice }>('POST', `/tenant/${invoice.tenant_id}/invoices/${invoice.id}/pay`)).data
        })
        this.said = this.t(paid?.status === 'paid' ? texts.paid : texts.payingDone, { amount })
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'payment_failed') {
          if (error instanceof ApiError && error.code === 'invoice_not_payable') void this.reload()
          throw error
        }
        const action = (error.body.payment_action as Schema<'PaymentAction'> | null | undefined) ?? invoice.payment_action
        this.ask({
          title: this.t(texts.notPaid, { amount }),
          body: () => [html`<p class="muted">${this.t(texts.refused)}</p>`, html`<div class="acts">${this.portal(data, this.t(texts.card))}
            ${action ? this.link(this.t(action.type === 'confirm' ? texts.confirm : texts.page), action.url) : nothing}</div>`],
        })
      }
    }
    return this.doing(`pay-${invoice.id}`, text, pay, { look, part: 'button primary', label: this.t(texts.payLabel, { amount, name: invoice.number }) })
  }

  /** Opens the provider's pages, where one changes the card. */
  private portal({ tenant }: Billing, text: string): Content {
    const open = async () => {
      const ask = (body: object) => this.client.call<{ data: { url: string } }>('POST', `/tenant/${tenant.id}/docs/billing/portal`, body)
      await leave((await ask({ return_url: this.returnUrl ? new URL(this.returnUrl, location.href).href : location.href })).data.url)
    }
    return this.doing('portal', text, open, { failed: this.t(texts.portalFailed) })
  }

  private choose({ subscription }: Billing): Content {
    const text = this.t(subscription ? texts.change : texts.choose)
    if (this.plansUrl) return this.link(text, this.plansUrl, subscription ? '' : 'primary')
    return this.doing('plans', text, () => this.plans(), { look: subscription ? '' : 'primary' })
  }

  /** Shows the plans here, by the element for them, which is loaded when somebody asks. */
  private async plans(): Promise<void> {
    const name = 'tenantry-pricing'
    if (!customElements.get(name)) await import(new URL('pricing.js', import.meta.url).href)
    const plans = document.createElement(name)
    for (const one of ['api', 'lang', 'theme'] as const) {
      const value = this.getAttribute(one)
      if (value) plans.setAttribute(one, value)
    }
    plans.lang = this.language
    plans.setAttribute('heading-level', '2')
    Object.assign(plans, { getToken: this.getToken, token: this.token })
    plans.addEventListener('tenantry-changed', () => {
      this.close()
      void this.reload()
    })
    this.ask({ title: '', wide: true, body: () => html`${plans}` })
  }

  /** Ends the subscription, or keeps it going where its end is set. */
  private ending({ tenant, subscription }: Billing): Content {
    if (!canChange(subscription)) return nothing
    const { name } = subscription.plan
    const end = this.format.day(subscription.current_period_end)
    const path = `/tenant/${tenant.id}/subscription`
    if (subscription.cancel_at) {
      const resume = () => this.change('subscription', () => this.client.call('POST', `${path}/resume`), this.t(texts.goesOn, { name }))
      return this.doing('resume', this.t(texts.keep, { name }), resume, { look: 'primary', part: 'button primary', failed: this.t(texts.still) })
    }
    const cancel = async ({ when, reason = '' }: Values) => {
      const now = when === 'now'
      await this.change('subscription', () => this.client.call('POST', `${path}/cancel`, { immediately: now, reason: reason.trim() || undefined }),
        this.t(now ? texts.ended : texts.endsOn, { name, end }))
    }
    const choice = (value: string, text: string, small: string) =>
      html`<label class="check"><input type="radio" name="when" value=${value} ?checked=${value === 'end'} /><span>${text}<small>${small}</small></span></label>`
    return this.button(this.t(texts.end, { name }), () => this.ask({
      title: this.t(texts.endTitle, { name }), action: () => this.t(texts.end, { name }), dismiss: this.t(texts.keep, { name }), danger: true, submit: cancel,
      body: (state) => [
        choice('end', this.t(texts.atEnd, { end }), this.t(texts.atEndText)), choice('now', this.t(texts.atOnce), this.t(texts.atOnceText)),
        this.field(state, 'reason', `${this.t(texts.why)} (${this.t(texts.optional)})`, { rows: 3 }),
      ],
    }), { look: 'quiet danger', part: 'button' })
  }

  private invoice(invoice: Invoice, data: Billing, manages: boolean): Content {
    const { format } = this
    const { amount_cents: cents } = invoice.total
    const state = {
      paid: status('good', this.t(cents < 0 ? texts.isCredited : cents > 0 && invoice.balance_applied.amount_cents >= cents ? texts.isFromBalance : texts.isPaid)),
      open: !invoice.payment_action ? status('wait', this.t(texts.isInProgress)) : status('warn', this.t(texts.isOpen)), void: status('off', this.t(texts.isVoid)),
      uncollectible: status('bad', this.t(texts.isOff)), draft: status('wait', this.t(texts.isOpen)),
    }[invoice.status]
    const day = invoice.status === 'paid' ? invoice.paid_at && format.day(invoice.paid_at) : invoice.status === 'open' && invoice.payment_action && invoice.due_date ? this.t(texts.dueOn, { day: format.day(invoice.due_date) }) : undefined
    return html`<li part="row"><div><b>${invoice.lines[0]?.description ?? invoice.number}</b><small>${invoice.number}, ${format.dayWithYear(invoice.issue_date)}</small></div>
      <div class="how">${state}${day ? html`<small>${day}</small>` : nothing}</div>
      <b class="amount">${format.sum(invoice.total)}</b>
      <div class="acts">${manages && invoice.status === 'open' && invoice.payment_action ? this.pay(invoice, data, 's', this.t(texts.pay)) : nothing}${this.pdf(invoice)}</div></li>`
  }

  /** The document. With a token it has to be read first: a link cannot send one. */
  private pdf(invoice: Invoice): Content {
    if (!invoice.pdf_url) return nothing
    const path = `/tenant/${invoice.tenant_id}/invoices/${invoice.id}/pdf`
    const label = this.t(texts.pdf, { name: invoice.number })
    const name = `${invoice.number}.pdf`
    if (!this.usesToken) return html`<a class="btn s quiet" part="button" href=${this.address(`/api/v1${path}`)} download=${name} aria-label=${label}>PDF</a>`
    const load = async () => {
      const url = URL.createObjectURL(await this.client.file(path))
      Object.assign(document.createElement('a'), { href: url, download: name }).click()
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    }
    return this.doing(`pdf-${invoice.id}`, 'PDF', load, { look: 's quiet', label })
  }

  private more(): void {
    this.shownInvoices = Math.min(100, this.shownInvoices * 4)
    void this.reload()
  }
}

define('tenantry-billing', TenantryBilling)
