import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Avatar } from '../../../ui/People'
import { Status, type Tone } from '../../../ui/Status'
import { When } from '../../../ui/When'

type Tenant = Schema<'AdminTenant'>

/** How many of the tenants have a subscription in which state. */
export function BySubscription({ tenants }: { tenants: Tenant[] }) {
  const { t } = useLingui()
  const format = useFormat()
  const of = (...states: (string | null)[]) => tenants.filter((one) => states.includes(one.subscription_status)).length
  const rows: { key: string; tone: Tone; label: string; count: number; fill?: string }[] = [
    { key: 'active', tone: 'good', label: t`Active`, count: of('active') },
    { key: 'trialing', tone: 'wait', label: t`In trial`, count: of('trialing'), fill: 'var(--fill-2)' },
    { key: 'past_due', tone: 'bad', label: t`Past due`, count: of('past_due', 'unpaid'), fill: 'var(--bad)' },
    { key: 'none', tone: 'plain', label: t`None`, count: of(null, 'canceled', 'paused', 'incomplete', 'incomplete_expired'), fill: 'var(--track)' },
  ]
  return (
    <div>
      <div className="sec-head"><h2><Trans>Tenants by subscription</Trans></h2></div>
      <div className="stackbar" aria-hidden="true">
        {rows.filter((one) => one.count > 0).map((one) => <i key={one.key} style={{ flex: one.count, background: one.fill }} />)}
      </div>
      <ul className="legend">
        {rows.map((one) => <li key={one.key}><Status tone={one.tone === 'bad' && one.count === 0 ? 'plain' : one.tone}>{one.label}</Status><b>{format.number(one.count)}</b></li>)}
      </ul>
    </div>
  )
}

/** The newest tenants, or those of which something is wrong. */
export function TenantList({ title, tenants }: { title: React.ReactNode; tenants: Tenant[] }) {
  return (
    <div>
      <div className="sec-head"><h2>{title}</h2></div>
      <ul className="list keep people-list">
        {tenants.map((one) => (
          <li key={one.id}>
            <span className="person"><Avatar square name={one.name} /><span><b><Link className="rowlink" to="/platform/tenants/$tenantId" params={{ tenantId: one.id }}>{one.name}</Link></b><small>{one.plan_name ?? one.owner?.email}</small></span></span>
            <span className="end"><When at={one.created_at} /></span>
          </li>
        ))}
      </ul>
    </div>
  )
}
