import { html, nothing } from 'lit-html'
import type { Schema } from './core/client'
import { define, TenantryElement, type Content } from './core/element'
import { usage as texts } from './texts/usage'
import base from './core/base.css'
import own from './usage.css'

type Summary = Schema<'UsageSummary'>
type Meter = Schema<'MeterSummary'>

interface Used {
  summary: Summary
  /** The codes of the meters that the plan has. A meter that no plan limits is recorded all the same. */
  inPlan: Set<string>
  at: number
}

/** From which share of its limit on a meter is near it. */
const near = 0.8

/** <tenantry-usage>: what is used of what the plan has, with limits, the period and warnings. */
export class TenantryUsage extends TenantryElement<Used> {
  static override properties = { ...super.properties, meters: { attribute: 'meters' }, refresh: { attribute: 'refresh', type: 'number' as const }, plansUrl: { attribute: 'plans-url' } }
  static override styles = base + own

  /** The codes of the meters to show, with commas between; all without it. */
  declare meters?: string
  /** Reads again after so many seconds. */
  declare refresh?: number
  /** Where larger plans are. */
  declare plansUrl?: string

  private timer?: ReturnType<typeof setInterval>

  protected override heading(): string {
    return this.t(texts.usage)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearInterval(this.timer)
  }

  protected override updated(properties: Set<string>): void {
    super.updated(properties)
    if (!properties.has('refresh')) return
    clearInterval(this.timer)
    if (this.refresh) this.timer = setInterval(() => document.visibilityState === 'visible' && void this.reload(), Math.max(5, this.refresh) * 1000)
  }

  protected override async read(): Promise<Used> {
    const { data: tenant } = await this.client.get<{ data: Schema<'Tenant'> }>('/tenant')
    const [{ data: summary }, { data: granted }, { data: estimate }] = await Promise.all([
      this.client.get<{ data: Summary }>(`/tenant/${tenant.id}/usage`), this.client.get<{ data: Schema<'Entitlement'>[] }>(`/tenant/${tenant.id}/entitlements`),
      this.client.get<{ data: Schema<'CostEstimate'> }>(`/tenant/${tenant.id}/usage/cost-estimate`),
    ])
    return { summary, inPlan: new Set([...granted.map((one) => one.key), ...estimate.lines.map((one) => one.meter_code)]), at: Date.now() }
  }

  protected override show({ summary, inPlan, at }: Used): Content {
    const wanted = this.meters?.split(',').map((one) => one.trim())
    const meters = summary.meters.filter((one) => !wanted || wanted.includes(one.meter_code)).sort((a, b) => share(b) - share(a))
    const days = Math.ceil((new Date(summary.period_end).getTime() - at) / 86_400_000)
    const total = (new Date(summary.period_end).getTime() - new Date(summary.period_start).getTime()) / 86_400_000
    const tight = meters.filter((one) => share(one) >= near)
    return html`
      <div class="head">${this.headed(this.t(texts.since, { from: this.format.day(summary.period_start) }))}
        ${days >= 0 && days <= total + 1 ? html`<span class="muted">${this.t(texts.left, { count: days })}</span>` : nothing}</div>
      ${tight.length > 0 ? html`<div class="stack said">${tight.map((one) => this.warning(one))}</div>` : nothing}
      ${meters.length === 0 ? this.empty(this.t(texts.none), this.t(texts.noneText)) : html`<ul class="bars" part="list">${meters.map((one) => this.bar(one, summary, inPlan.has(one.meter_code)))}</ul>`}`
  }

  /** 18.2 GB; a unit that is a word is left away. */
  private quantity(value: number, unit: string | null): string {
    return unit && /^[A-Za-z]{1,3}$/.test(unit) ? `${this.format.number(value)} ${unit}` : this.format.number(value)
  }

  private warning(meter: Meter): Content {
    const hard = meter.quota_enforcement === 'hard'
    const full = share(meter) >= 1
    const used = this.t(texts.used, { used: this.format.number(meter.current_usage), limit: this.quantity(meter.quota_limit!, meter.unit_label) })
    return this.note(full && hard ? 'bad' : 'warn', this.t(full ? texts.limitReached : texts.near, { name: meter.meter_name }),
      `${used} ${this.t(hard ? texts.hard : texts.soft)}`,
      this.plansUrl && html`<a class="btn s" part="button" href=${this.plansUrl}>${this.t(texts.larger)}</a>`)
  }

  private bar(meter: Meter, { period_end: end }: Summary, inPlan: boolean): Content {
    const { current_usage: used, quota_limit: limit, unit_label: unit } = meter
    const part = share(meter)
    const full = limit !== null && part >= 1
    const hard = meter.quota_enforcement === 'hard'
    const below = meter.reset_interval === 'none' ? this.t(texts.kept) : meter.reset_interval === 'weekly' ? this.t(texts.weekly)
      : meter.reset_interval === 'daily' ? this.t(texts.daily) : this.t(texts.again, { end: this.format.day(end) })
    const figure = limit === null ? this.quantity(used, unit) : this.t(texts.of, { used: this.format.number(used), limit: this.quantity(limit, unit) })
    const remark = limit === null ? this.t(inPlan ? texts.noLimit : texts.notInPlan) : full ? this.t(hard ? texts.reached : texts.above) : ''
    return html`<li class="bar ${full && hard ? 'bad' : part >= near ? 'warn' : ''}" part="meter">
      <div><b>${meter.meter_name}</b><span>${below}</span></div>
      <div class="track">${limit === null ? nothing : html`<svg part="bar" aria-hidden="true"><rect width="100%" height="100%"></rect><rect class="v" part="fill" width="${Math.min(100, part * 100)}%" height="100%"></rect></svg>`}</div>
      <div class="fig"><b>${figure}</b><span>${remark}</span></div></li>`
  }
}

/** How much of its limit a meter has come to, or 0 without one. */
function share({ current_usage: used, quota_limit: limit }: Meter): number {
  if (limit === null) return 0
  return limit > 0 ? used / limit : used > 0 ? 1 : 0
}

define('tenantry-usage', TenantryUsage)
