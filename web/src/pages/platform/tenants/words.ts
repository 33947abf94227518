import { useLingui } from '@lingui/react/macro'
import type { Option } from '../lists/Filters'

/** Returns the statuses of a subscription as options of a filter. */
export function useStatusOptions(): Option[] {
  const { t } = useLingui()
  return [
    { value: 'active', label: t`Active` }, { value: 'trialing', label: t`In trial` }, { value: 'past_due', label: t`Past due` }, { value: 'unpaid', label: t`Unpaid` },
    { value: 'incomplete', label: t`Payment incomplete` }, { value: 'paused', label: t`Paused` }, { value: 'canceled', label: t`Canceled` },
  ]
}
