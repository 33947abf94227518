import type { Schema } from '../api/client'
import { nextBill, regularPrice } from './bill'

/**
 * Reports whether a trial is canceled at its end because no payment method is saved. method is null
 * without one, and undefined if it is unknown.
 */
export function lacksCard(subscription: Schema<'Subscription'>, method: Schema<'PaymentMethod'> | null | undefined): boolean {
  const { status, cancel_at, collection, discount } = subscription
  if (status !== 'trialing' || cancel_at || collection !== 'card' || method !== null) return false
  const free = discount && !discount.ends_at && nextBill(subscription, 0, undefined).discount === regularPrice(subscription)
  return !free
}
