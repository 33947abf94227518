import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { pageOf, useFilters } from '../../../app/filters'
import { Events } from '../../../parts/timeline/Events'
import { ButtonLink } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { trailQuery, useChanges, useNameOf } from './entries'
import { LogFilters, useLogFilters } from './LogFilters'

/** Actions to choose from. Others can be entered. */
const actions = [
  'plan.updated', 'plan_price.psp_created', 'member.role_changed', 'member.removed', 'invitation.created', 'tenant.updated', 'tenant.deleted', 'subscription.canceled', 'subscription.plan_changed',
  'invoice.voided', 'api_key.created', 'impersonation.started', 'login.succeeded', 'login.blocked', 'password.changed',
]

/** The audit trail of the platform or of a tenant, filtered by person, days and action. All filters are in the URL. */
export function AuditList({ tenant }: { tenant?: string }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const changes = useChanges(tenant)
  const name = useNameOf(tenant)
  const params = { ...useLogFilters(), 'filter[action]': search.action, 'filter[tenant]': tenant ?? search.tenant }
  const trail = useQuery(trailQuery({ ...params, page: pageOf(search) }))
  const filtered = ['search', 'from', 'to', 'actor', 'action', ...(tenant ? [] : ['tenant'])].some((one) => search[one])
  const setAction = (text: string) => { if (text.trim() !== (search.action ?? '')) change({ action: text.trim() || undefined }) }
  return (
    <>
      <LogFilters path="/api/v1/admin/audit-logs" params={params} names={tenant ? ['action'] : ['action', 'tenant']}>
        <label className="filter">
          <span>{t`Action`}</span>
          <input key={search.action ?? ''} className="input dense" defaultValue={search.action ?? ''} placeholder="plan.updated" list="actions" onBlur={(event) => setAction(event.target.value)} onKeyDown={(event) => { if (event.key === 'Enter') event.currentTarget.blur() }} />
        </label>
      </LogFilters>
      <Read query={trail} lines={9}>
        {(found) => found.data.length > 0
          ? <><Events entries={changes(found.data)} name={name} byDay withTenant={!tenant} /><Pager meta={found.meta} /></>
          : filtered
            ? <Empty slim icon="activity" title={<Trans>No results for these filters</Trans>} actions={<ButtonLink to="." search={{ kind: search.kind } as never}><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty slim icon="activity" title={<Trans>No changes yet</Trans>}><Trans>All changes are recorded here and cannot be altered.</Trans></Empty>}
      </Read>
      <datalist id="actions">{actions.map((one) => <option key={one} value={one} />)}</datalist>
    </>
  )
}
