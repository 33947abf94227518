import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Avatar } from '../../../ui/People'
import { SortHead } from '../../../ui/SortHead'
import { Status, SubscriptionState } from '../../../ui/Status'
import { Day } from '../../../ui/When'

function State({ of }: { of: Schema<'AdminTenant'> }) {
  if (of.deleted_at) return <Status tone="off"><Trans>Deleted <Day at={of.deleted_at} /></Trans></Status>
  if (!of.subscription_status && !of.onboarding_completed_at) return <Status tone="plain"><Trans>Setting up</Trans></Status>
  return <SubscriptionState status={of.subscription_status} />
}

/** A table of tenants. Each row links to the tenant's page. */
export function TenantTable({ tenants }: { tenants: Schema<'AdminTenant'>[] }) {
  const { t } = useLingui()
  const format = useFormat()
  return (
    <table className="table mid cards tenants">
      <thead>
        <tr>
          <th scope="col"><Trans>Name</Trans></th>
          <th scope="col"><Trans>Plan</Trans></th>
          <th scope="col"><Trans>Subscription</Trans></th>
          <th scope="col" className="num"><Trans>Members</Trans></th>
          <SortHead by="created_at" normal="-created_at" className="since"><Trans>Customer since</Trans></SortHead>
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
            <td className="k2">{one.plan_name ?? <span className="faint">{t`No plan`}</span>}</td>
            <td className="k3"><State of={one} /></td>
            <td className="num k4">{format.number(one.member_count)}</td>
            <td className="k7 muted since"><Day at={one.created_at} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
