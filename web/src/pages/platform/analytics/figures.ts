import type { Schema } from '../../../api/client'
import type { Month } from './reads'

const share = (part: number, whole: number) => (whole === 0 ? null : part / whole)

export const customerChurn = (of: Month) => share(of.customers_churned, of.customers_opening)
export const revenueLost = (of: Month) => -(of.contraction + of.churn)
export const revenueChurn = (of: Month) => share(revenueLost(of), of.opening)
export const conversion = (of: Month) => share(of.trials_converted, of.trials_ended)
export const net = (of: Month) => of.closing - of.opening

/**
 * Returns the last complete month, because the current one says little on its second day, and the
 * one before it.
 */
export function lastComplete({ months }: Schema<'Analytics'>, current: string): [Month | undefined, Month | undefined] {
  const complete = months.filter((one) => one.month < current)
  return [complete.at(-1) ?? months.at(-1), complete.at(-2)]
}

/** Reports whether nobody has paid regularly in the months. */
export const isEmpty = ({ months, by_currency }: Schema<'Analytics'>) =>
  months.every((one) => one.opening === 0 && one.closing === 0 && one.customers_opening === 0 && one.customers_closing === 0) && by_currency.every((one) => one.mrr === 0)
