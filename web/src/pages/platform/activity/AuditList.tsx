import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { pageOf, useFilters } from '../../../app/filters'
import { Events } from '../../../parts/timeline/Events'
import { Button } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { trailQuery, useChanges, useNameOf } from './entries'

/** The audit trail, filtered by action, user and days. All filters are in the URL. */
export function AuditList() {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const changes = useChanges()
  const name = useNameOf()
  const actor = /^\d+$/.test(search.actor ?? '') ? Number(search.actor) : undefined
  const query = {
    page: pageOf(search), 'filter[action]': search.action, 'filter[actor]': actor, 'filter[tenant]': search.tenant,
    'filter[created_after]': search.after, 'filter[created_before]': search.before,
  }
  const filtered = Boolean(search.action || search.actor || search.after || search.before || search.tenant)
  const trail = useQuery(trailQuery(query))
  const field = (name: 'action' | 'actor' | 'after' | 'before', label: string, rest: React.InputHTMLAttributes<HTMLInputElement>) => (
    <label className="filter">
      <span>{label}</span>
      <input key={search[name] ?? ''} className="input dense" defaultValue={search[name] ?? ''} {...rest} onBlur={(event) => { if (event.target.value.trim() !== (search[name] ?? '')) change({ [name]: event.target.value.trim() || undefined }) }} onKeyDown={(event) => { if (event.key === 'Enter') event.currentTarget.blur() }} />
    </label>
  )
  return (
    <>
      <div className="toolbar filters">
        {field('action', t`Action`, { placeholder: 'plan.updated', list: 'actions' })}
        {field('actor', t`User ID`, { inputMode: 'numeric' })}
        {field('after', t`From`, { type: 'date' })}
        {field('before', t`Until`, { type: 'date' })}
        {filtered && <Button size="s" look="quiet" icon="x" onClick={() => change({ action: undefined, actor: undefined, after: undefined, before: undefined, tenant: undefined })}><Trans>Clear filters</Trans></Button>}
      </div>
      <Read query={trail} lines={9}>
        {(found) => found.data.length === 0
          ? <Empty slim icon="activity" title={filtered ? <Trans>No results for these filters</Trans> : <Trans>No changes yet</Trans>}>{!filtered && <Trans>All changes are recorded here and cannot be altered.</Trans>}</Empty>
          : <><Events entries={changes(found.data)} name={name} byDay withTenant /><Pager meta={found.meta} /></>}
      </Read>
      <datalist id="actions">{['plan.updated', 'plan_price.psp_created', 'member.role_changed', 'member.removed', 'invitation.created', 'tenant.updated', 'tenant.deleted', 'subscription.canceled', 'subscription.plan_changed', 'invoice.voided', 'api_key.created', 'impersonation.started', 'login.succeeded', 'login.blocked', 'password.changed'].map((one) => <option key={one} value={one} />)}</datalist>
    </>
  )
}
