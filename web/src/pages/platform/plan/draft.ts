import type { Schema } from '../../../api/client'
import { sent, textsOf, type Texts } from '../catalog/texts'

/** A price as edited. */
export interface DraftPrice {
  currency: string
  /** The text in the field. */
  amount: string
}

/** An entitlement as edited. */
export interface DraftEntitlement {
  on: boolean
  /** The text in the limit field; empty for no limit. */
  limit: string
}

/** A plan as edited, until it is saved or discarded. */
export interface Draft {
  texts: Texts
  slug: string
  product_id: string
  pricing_type: Schema<'PricingType'>
  interval_unit: Schema<'IntervalUnit'>
  interval_count: string
  trial_days: string
  sort_order: string
  is_active: boolean
  is_default: boolean
  trial_requires_card: boolean
  prices: DraftPrice[]
  entitlements: Record<string, DraftEntitlement>
}

/** The decimals of a currency by code. */
export type Digits = (currency: string) => number

/** Formats minor units for editing: 1900 is 19.00. */
export function written(cents: number, digits: number): string {
  return (cents / 10 ** digits).toFixed(digits)
}

/**
 * Parses input as minor units, with a comma or a point before the decimals; undefined if it is not
 * an amount.
 */
export function minorUnits(text: string, digits: number): number | undefined {
  const plain = text.trim().replace(/[\s'’]/g, '').replace(',', '.')
  if (!new RegExp(`^\\d+(\\.\\d{0,${digits}})?$`).test(plain)) return undefined
  return Math.round(Number(plain) * 10 ** digits)
}

export function draftOf(plan: Schema<'AdminPlan'>, digits: Digits): Draft {
  return {
    texts: textsOf(plan.translations), slug: plan.slug, product_id: plan.product_id, pricing_type: plan.pricing_type,
    interval_unit: plan.interval_unit, interval_count: String(plan.interval_count), trial_days: String(plan.trial_days), sort_order: String(plan.sort_order),
    is_active: plan.is_active, is_default: plan.is_default, trial_requires_card: plan.trial_requires_card,
    prices: plan.prices.map((one) => ({ currency: one.currency, amount: written(one.price_cents, digits(one.currency)) })),
    entitlements: Object.fromEntries(plan.entitlements.map((one) => [one.feature_id, { on: true, limit: one.value === null ? '' : String(one.value) }])),
  }
}

/** Fields with invalid numbers, by their name in the request. */
export type Mistakes = Record<string, 'amount' | 'number'>

/** Returns the request that saves a draft, and its invalid fields. It only contains changes. */
export function requestOf(draft: Draft, before: Draft, digits: Digits): { body: Schema<'AdminUpdatePlanRequest'>; mistakes: Mistakes } {
  const mistakes: Mistakes = {}
  const whole = (name: 'interval_count' | 'trial_days' | 'sort_order') => {
    if (!/^\d+$/.test(draft[name].trim())) mistakes[name] = 'number'
    return Number(draft[name])
  }
  const differs = (key: keyof Draft) => JSON.stringify(draft[key]) !== JSON.stringify(before[key])
  const prices = draft.prices.map((one, i) => {
    const price_cents = minorUnits(one.amount, digits(one.currency))
    if (price_cents === undefined) mistakes[`prices.${i}.price_cents`] = 'amount'
    return { currency: one.currency, price_cents: price_cents ?? 0 }
  })
  const entitlements = Object.entries(draft.entitlements).filter(([, one]) => one.on).map(([feature_id, one]) => {
    const limit = one.limit.trim()
    if (limit && !/^\d+$/.test(limit)) mistakes[`entitlement.${feature_id}`] = 'number'
    return limit ? { feature_id, type: 'quota' as const, value: Number(limit) } : { feature_id, type: 'boolean' as const }
  })
  const interval = differs('interval_unit') || differs('interval_count')
  const body: Schema<'AdminUpdatePlanRequest'> = {
    ...(differs('texts') ? sent(draft.texts) : {}),
    ...(differs('slug') ? { slug: draft.slug.trim() } : {}),
    ...(differs('product_id') ? { product_id: draft.product_id } : {}),
    ...(differs('pricing_type') ? { pricing_type: draft.pricing_type } : {}),
    ...(interval ? { interval_unit: draft.interval_unit, interval_count: whole('interval_count') } : {}),
    ...(differs('trial_days') ? { trial_days: whole('trial_days') } : {}),
    ...(differs('sort_order') ? { sort_order: whole('sort_order') } : {}),
    ...(differs('is_active') ? { is_active: draft.is_active } : {}),
    ...(differs('is_default') ? { is_default: draft.is_default } : {}),
    ...(differs('trial_requires_card') ? { trial_requires_card: draft.trial_requires_card } : {}),
    ...(differs('prices') ? { prices } : {}),
    ...(differs('entitlements') ? { entitlements } : {}),
  }
  return { body, mistakes }
}

/** Returns the ids of the features in a request, in its order, to assign errors to them. */
export function givenIn(draft: Draft): string[] {
  return Object.entries(draft.entitlements).filter(([, one]) => one.on).map(([id]) => id)
}
