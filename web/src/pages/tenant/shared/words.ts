import { plural } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import { useRoleName } from '../../../app/roles'

/** Words that several pages share. */
export function useWords() {
  const { t } = useLingui()
  const format = useFormat()
  const roleName = useRoleName()
  const { each, per } = usePlanWords()

  /** The plan with its seats: Team, 4 seats. */
  function planWithSeats(name: string, type: Schema<'PricingType'>, quantity: number): string {
    const places = plural(quantity, { one: '# seat', other: '# seats' })
    return type === 'seat' ? t`${name}, ${places}` : name
  }

  /** The plan with its seats after a scheduled change. current is the plan before it. */
  function planAfter({ plan, quantity }: Schema<'PendingChange'>, current: Schema<'SubscribedPlan'>): string {
    return planWithSeats(plan.name, plan.id === current.id ? current.pricing_type : quantity > 1 ? 'seat' : 'flat', quantity)
  }

  /** Returns the display name of a role. Built-in roles are translated. */
  function role(name: string | null): string {
    return name === null ? t({ message: 'None', context: 'role' }) : roleName(name)
  }

  return { each, per, planWithSeats, planAfter, role, quantity: (value: number, unit: string | null) => format.quantity(value, unit) }
}
