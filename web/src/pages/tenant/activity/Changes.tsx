import { Trans, useLingui } from '@lingui/react/macro'
import { $api, type Schema } from '../../../api/client'
import { pageOf, useFilters } from '../../../app/filters'
import { useTenant } from '../../../app/session'
import { Events } from '../../../parts/timeline/Events'
import { changeOf } from '../../../parts/timeline/reads'
import { Button } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { useHere } from '../shared/reads'
import { useNameOf } from './names'

/** Returns a day in the URL as a time in the reader's time zone, or undefined; after adds days. */
function time(day: string | undefined, after = 0): string | undefined {
  if (!day || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const at = new Date(`${day}T00:00:00`)
  at.setDate(at.getDate() + after)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** The audit trail of the organization, filtered by user and day. All filters are in the URL. */
export function Changes() {
  const { t } = useLingui()
  const here = useHere()
  const { users } = useTenant()
  const name = useNameOf()
  const [search, filter] = useFilters()
  const query = {
    page: pageOf(search), per_page: 50, from: time(search.from), to: time(search.to, 1),
    'filter[actor]': Number(search.who) || undefined,
  }
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
        <label className="row t13"><span className="faint"><Trans>From</Trans></span>
          <input className="input dense w-auto" type="date" value={search.from ?? ''} onChange={(event) => filter({ from: event.target.value || undefined })} />
        </label>
        <label className="row t13"><span className="faint"><Trans>To</Trans></span>
          <input className="input dense w-auto" type="date" value={search.to ?? ''} onChange={(event) => filter({ to: event.target.value || undefined })} />
        </label>
        {filtered && <Button size="s" look="quiet" icon="x" onClick={() => filter({ who: undefined, from: undefined, to: undefined })}><Trans>Clear filters</Trans></Button>}
      </div>
      <Read query={entries} lines={8}>
        {({ data, meta }) => data.length > 0
          ? <><Events entries={data.map(told)} name={name} byDay /><Pager meta={meta} /></>
          : (
              <Empty slim icon="activity" title={filtered ? <Trans>No matching activity</Trans> : <Trans>No activity yet</Trans>}>
                <Trans>Changes to members, roles, the plan, API keys and webhooks appear here.</Trans>
              </Empty>
            )}
      </Read>
    </>
  )
}
