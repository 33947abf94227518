import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'

const month = 30 * 86_400_000

function Figure({ label, value, children }: { label: ReactNode; value: ReactNode; children: ReactNode }) {
  return <Link to="/platform/tenants"><span className="lab">{label}</span><span className="fig"><b>{value}</b></span><span className="delta">{children}</span></Link>
}

/** What the tenants that were read come to. On a large platform these are the newest hundred, and the figures say so. */
export function Figures({ tenants, total }: { tenants: Schema<'AdminTenant'>[]; total: number }) {
  const format = useFormat()
  const count = (...states: string[]) => format.number(tenants.filter((one) => states.includes(one.subscription_status ?? '')).length)
  const all = tenants.length >= total
  const young = tenants.filter((one) => Date.now() - new Date(one.created_at).getTime() < month).length
  const fresh = format.number(young)
  const trial = count('trialing')
  const newest = !all && <Trans>of the newest {tenants.length}</Trans>
  return (
    <div className="six">
      <Figure label={<Trans>Tenants</Trans>} value={format.number(total)}>{young < tenants.length || all ? <Trans>{fresh} new in 30 days</Trans> : <Trans>more than {fresh} new in 30 days</Trans>}</Figure>
      <Figure label={<Trans>Active subscriptions</Trans>} value={count('active')}><Trans>{trial} more in trial</Trans> {newest}</Figure>
      <Figure label={<Trans>Past due</Trans>} value={count('past_due', 'unpaid')}>{newest || (count('past_due', 'unpaid') === format.number(0) ? <Trans>All are paid</Trans> : <Trans>A payment is missing</Trans>)}</Figure>
    </div>
  )
}
