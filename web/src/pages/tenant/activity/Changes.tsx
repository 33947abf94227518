import { Trans, useLingui } from '@lingui/react/macro'
import { $api, address, type Schema } from '../../../api/client'
import { pageOf, useFilters } from '../../../app/filters'
import { useTenant } from '../../../app/session'
import { DayFields } from '../../../parts/timeline/DayFields'
import { Events } from '../../../parts/timeline/Events'
import { momentOf } from '../../../parts/timeline/days'
import { changeOf } from '../../../parts/timeline/reads'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { ClearFilters } from '../../../ui/ClearFilters'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { useHere } from '../shared/reads'
import { useNameOf } from './names'

/** The audit trail of the organization, filtered by user and day. All filters are in the URL. */
export function Changes() {
  const { t } = useLingui()
  const here = useHere()
  const { users, id } = useTenant()
  const name = useNameOf()
  const [search, filter] = useFilters()
  const filters = { from: momentOf(search.from), to: momentOf(search.to, 1), actor: Number(search.who) || undefined }
  const query = { page: pageOf(search), per_page: 50, ...filters }
  const file = new URLSearchParams({ format: 'csv', bom: '1' })
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) file.set(name, String(value))
  const entries = $api.useQuery('get', '/api/v1/tenant/{tenantId}/audit-logs', { params: { ...here.params, query } })
  const person = (id: number) => name('user', String(id)) ?? t`A former member`
  // An impersonating admin is shown as support, because the team does not know them by name.
  const told = (one: Schema<'AuditEntry'>) => {
    const change = changeOf(one, person, name)
    const support = one.subject_id !== null || one.action.startsWith('impersonation.')
    return support && change.actor && !name('user', String(one.actor_id)) ? { ...change, actor: { ...change.actor, name: t`Support team` } } : change
  }
  const filtered = search.who || search.from || search.to
  return (
    <>
      <div className="toolbar">
        <select className="select dense w-auto" aria-label={t`Filter by person`} value={search.who ?? ''} onChange={(event) => filter({ who: event.target.value || undefined })}>
          <option value="">{t`Anyone`}</option>
          {users.map((user) => <option key={user.id} value={user.id}>{user.name}</option>)}
        </select>
        <DayFields />
        {filtered && <Button size="s" look="quiet" icon="x" onClick={() => filter({ who: undefined, from: undefined, to: undefined })}><Trans>Clear filters</Trans></Button>}
        <span className="end"><ButtonAnchor size="s" icon="download" href={address(`/api/v1/tenant/${id}/audit-logs?${file}`)} download><Trans>Export CSV</Trans></ButtonAnchor></span>
      </div>
      <Read query={entries} lines={8}>
        {({ data, meta }) => data.length > 0
          ? <><Events entries={data.map(told)} name={name} byDay /><Pager meta={meta} /></>
          : (
              <Empty slim icon="activity" title={filtered ? <Trans>No matching activity</Trans> : <Trans>No activity yet</Trans>} actions={filtered && <ClearFilters />}>
                <Trans>Changes to members, roles, the plan, API keys and webhooks appear here.</Trans>
              </Empty>
            )}
      </Read>
    </>
  )
}
