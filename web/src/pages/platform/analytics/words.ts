import { useLingui } from '@lingui/react/macro'
import type { Kind } from './reads'

export type FigureName = 'mrr' | 'arr' | 'customers' | 'arpu' | 'retention' | 'customerChurn' | 'revenueChurn' | 'conversion'

/** The names and definitions of the figures. */
export function useDefinitions(): Record<FigureName, { name: string; text: string }> {
  const { t } = useLingui()
  return {
    mrr: { name: t`MRR`, text: t`Monthly recurring revenue: the price of every active and past due subscription, converted to a month, net of recurring discounts. Trials, packs, usage and tax don’t count.` },
    arr: { name: t`ARR`, text: t`Annual recurring revenue: MRR × 12.` },
    customers: { name: t`Paying customers`, text: t`Tenants with an MRR above 0.` },
    arpu: { name: t`ARPU`, text: t`Average revenue per user: MRR divided by paying customers.` },
    retention: { name: t`Net revenue retention`, text: t`MRR today of the customers who paid 12 months ago, divided by their MRR then. New customers don’t count.` },
    customerChurn: { name: t`Customer churn`, text: t`Customers who stopped paying in the month, divided by the customers at its start.` },
    revenueChurn: { name: t`Revenue churn`, text: t`MRR lost to cancellations and smaller plans in the month, divided by the MRR at its start.` },
    conversion: { name: t`Trial conversion`, text: t`Trials that ended in the month and led to a payment within 30 days, divided by all trials that ended in it.` },
  }
}

export const kinds: Kind[] = ['new', 'reactivation', 'expansion', 'contraction', 'churn']

/** The names of the movements. */
export function useKindWords(): Record<Kind, string> {
  const { t } = useLingui()
  return { new: t`New`, reactivation: t`Returned`, expansion: t`Expansion`, contraction: t`Contraction`, churn: t`Churn` }
}
