import type { Schema } from './client'

type Subscription = Schema<'Subscription'>

/** The statuses in which a plan can be changed. */
const changeable = new Set(['active', 'trialing', 'past_due'])

export function canChange(subscription: Subscription | null): subscription is Subscription {
  return subscription !== null && changeable.has(subscription.status)
}

/** Goes to another page. The button stays busy until the browser is there. */
export async function leave(url: string): Promise<void> {
  location.assign(url)
  await new Promise((then) => setTimeout(then, 5000))
}
