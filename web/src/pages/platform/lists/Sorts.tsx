import { useLingui } from '@lingui/react/macro'
import { useFilters } from '../../../app/filters'

/** The order of a list on a phone, where the columns have no heads. The first order is the default. */
export function PhoneSort({ orders }: { orders: { value: string; label: string }[] }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const [first] = orders
  return (
    <div className="phone-sort">
      <select className="select plain t13" aria-label={t`Sort by`} value={search.sort ?? first!.value} onChange={(event) => change({ sort: event.target.value === first!.value ? undefined : event.target.value })}>
        {orders.map((one) => <option key={one.value} value={one.value}>{one.label}</option>)}
      </select>
    </div>
  )
}
