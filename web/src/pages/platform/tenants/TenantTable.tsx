import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFormat } from '../../../app/format'
import { Avatar } from '../../../ui/People'
import { SortHead } from '../../../ui/SortHead'
import { Status, SubscriptionState } from '../../../ui/Status'
import { When } from '../../../ui/When'
import type { TenantRow } from '../lists/reads'

/** The status of a tenant, with the fact behind it: an open amount, or the end of the trial. */
function State({ of }: { of: TenantRow }) {
  const format = useFormat()
  if (of.deleted_at) {
    const day = format.day(of.deleted_at)
    return <Status tone="off"><Trans>Deleted {day}</Trans></Status>
  }
  const { subscription_status: status } = of
  if (!status && !of.onboarding_completed_at) return <Status tone="plain"><Trans>Setting up</Trans></Status>
  const open = of.open_amount.length > 0 && format.list(of.open_amount.map((one) => format.sum(one)))
  const ends = status === 'trialing' && of.trial_ends_at && format.day(of.trial_ends_at)
  return (
    <>
      <SubscriptionState status={status} />
      {open ? <small><Trans>{open} open</Trans></small>
        : ends ? <small><Trans>Ends on {ends}</Trans></small>
          : status === 'incomplete' && <small><Trans>Awaiting first payment</Trans></small>}
    </>
  )
}

/** A table of tenants. Each row links to the tenant's page. */
export function TenantTable({ tenants, deleted }: { tenants: TenantRow[]; deleted?: boolean }) {
  const format = useFormat()
  const normal = '-created_at'
  return (
    <table className="table mid cards rows tenants2">
      <thead>
        <tr>
          <th scope="col"><Trans>Name</Trans></th>
          <th scope="col"><Trans>Plan</Trans></th>
          <th scope="col"><Trans>Status</Trans></th>
          {deleted ? <th scope="col" className="num"><Trans>MRR</Trans></th> : <SortHead by="mrr" normal={normal} className="num"><Trans>MRR</Trans></SortHead>}
          <th scope="col"><Trans>Country</Trans></th>
          {deleted ? <th scope="col"><Trans>Last activity</Trans></th> : <SortHead by="last_activity_at" normal={normal}><Trans>Last activity</Trans></SortHead>}
          {deleted ? <th scope="col"><Trans>Customer since</Trans></th> : <SortHead by="created_at" normal={normal} className="k7"><Trans>Customer since</Trans></SortHead>}
        </tr>
      </thead>
      <tbody>
        {tenants.map((one) => (
          <tr key={one.id}>
            <td className="k1">
              <span className="person">
                <Avatar square name={one.name} />
                <span>
                  <b><Link className="rowlink" to="/platform/tenants/$tenantId" params={{ tenantId: one.id }}>{one.name}</Link></b>
                  <small>{one.owner?.email ?? one.slug}</small>
                </span>
              </span>
            </td>
            <td className="k2">{one.plan_name ?? <span className="faint nowrap"><Trans>No plan</Trans></span>}</td>
            <td className="k3"><State of={one} /></td>
            <td className="num k4">{one.mrr ? <><b>{format.sum(one.mrr)}</b>{one.mrr_base && one.mrr_base.currency !== one.mrr.currency && <small>≈ {format.sum(one.mrr_base)}</small>}</> : <span className="faint">–</span>}</td>
            <td className="k5">{one.country ? format.country(one.country) : <span className="faint">–</span>}</td>
            <td className="k6 muted">{one.last_activity_at ? <When at={one.last_activity_at} /> : <span className="faint"><Trans context="last activity">None yet</Trans></span>}</td>
            <td className="k7 muted">{format.day(one.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
