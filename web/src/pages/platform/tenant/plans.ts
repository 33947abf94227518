import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { allProductsQuery } from '../catalog/reads'
import { nameIn } from '../catalog/texts'
import { usePlatformMay } from '../may'
import { subscriptionsQuery } from './reads'

export type Sold = Schema<'AdminPlan'> & { name: string }

/** Returns the plans of the catalog with their names in the reader's language, inactive ones as well. */
export function usePlans(): { plans: Sold[]; isLoading: boolean } {
  const { i18n } = useLingui()
  const may = usePlatformMay()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') })
  const plans = (products.data ?? []).flatMap((one) => one.plans ?? []).map((one) => ({ ...one, name: nameIn(one.translations, i18n.locale) || one.slug }))
  return { plans: plans as Sold[], isLoading: products.isLoading }
}

/** Returns the price of a plan in a currency, in minor units. */
export function priceOf(plan: Sold | undefined, currency: string): number | undefined {
  return plan?.prices.find((one) => one.currency === currency)?.price_cents
}

/** The largest number of seats that a plan includes; undefined without a limit. */
export function mostSeats(plan: Sold | undefined): number | undefined {
  return plan?.entitlements.find((one) => one.feature.code === 'team-members')?.value ?? undefined
}

/** Returns the running subscription of a tenant; undefined while it is loaded. */
export function useRunning(tenant: string): Schema<'Subscription'> | null | undefined {
  const all = useQuery(subscriptionsQuery(tenant)).data
  return all && (all.find((one) => one.status !== 'canceled' && one.status !== 'incomplete_expired') ?? null)
}
