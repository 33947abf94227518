import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { Status } from '../../../ui/Status'
import { countQuery, type List, type Params, type Total } from '../lists/reads'
import type { Search } from '../lists/place'

/** A number with its amounts by currency, which filters the list. */
function Tile({ label, alarm, list, params, amount, to, search, here }: {
  label: ReactNode
  /** Marks a number above 0. */
  alarm?: boolean
  list: List; params: Params
  /** The amount of a total to show. */
  amount: (of: Total) => number
  to: '/platform/invoices' | '/platform/invoices/credit-notes'; search: Search; here: boolean
}) {
  const format = useFormat()
  const meta = useQuery(countQuery(list, params)).data
  const sums = (meta?.totals ?? []).map((one) => format.money(amount(one), one.currency))
  return (
    <Link to={to} search={search} resetScroll={false} activeProps={{}} activeOptions={{ exact: true, includeSearch: true }} aria-current={here ? 'true' : undefined}>
      <span className="lab">{alarm && meta && meta.total > 0 ? <Status tone="bad">{label}</Status> : label}</span>
      <b>{meta ? format.number(meta.total) : '–'}</b>
      <span className="sub">{sums.length > 0 ? sums.join(', ') : <>&nbsp;</>}</span>
    </Link>
  )
}

/** The open, overdue, paid and refunded amounts among the filtered invoices. Each leads to its invoices. */
export function Tiles({ base, dates }: {
  /** The filters without the status. */
  base: Params
  /** The filters that credit notes have as well. */
  dates: Params
}) {
  const [search] = useFilters()
  const { status, overdue, page: _, ...rest } = search
  const left = (of: Total) => of.amount_due ?? of.total
  const total = (of: Total) => of.total
  const tile = (name: string, value: string, on: boolean) => ({ to: '/platform/invoices' as const, search: on ? rest : { ...rest, [name]: value }, here: on })
  return (
    <div className="strip tiles">
      <Tile label={<Trans context="invoices">Open</Trans>} list="invoices" params={{ ...base, 'filter[status]': 'open' }} amount={left} {...tile('status', 'open', status === 'open')} />
      <Tile alarm label={<Trans>Past due</Trans>} list="invoices" params={{ ...base, 'filter[overdue]': 'true' }} amount={left} {...tile('overdue', '1', overdue === '1')} />
      <Tile label={<Trans context="invoices">Paid</Trans>} list="invoices" params={{ ...base, 'filter[status]': 'paid' }} amount={total} {...tile('status', 'paid', status === 'paid')} />
      <Tile label={<Trans>Refunded</Trans>} list="credit-notes" params={{ ...dates, 'filter[refund_status]': 'succeeded' }} amount={total} to="/platform/invoices/credit-notes" search={{ refund: 'succeeded' }} here={false} />
    </div>
  )
}
