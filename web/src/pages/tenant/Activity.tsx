import { Trans, useLingui } from '@lingui/react/macro'
import { pageOf, useFilters } from '../../app/filters'
import { $api } from '../../api/client'
import { useMay, useTenant } from '../../app/session'
import { ButtonLink } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { Days } from './activity/Days'
import { useHere } from './shared/reads'

/** The first moment of a day in the reader's own time. */
const dayStart = (day: string) => new Date(`${day}T00:00:00`)

/** Returns a day of the address as a time, or undefined; after adds a day. */
function time(day: string | undefined, after = 0): string | undefined {
  if (!day || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined
  const at = dayStart(day)
  at.setDate(at.getDate() + after)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** Who did what here, in plain words, with filters that live in the address. */
export default function Activity() {
  const { t } = useLingui()
  const may = useMay()
  const here = useHere()
  const { users } = useTenant()
  const [search, filter] = useFilters()
  const query = {
    page: pageOf(search), per_page: 50, from: time(search.from), to: time(search.to, 1),
    'filter[actor]': Number(search.who) || undefined,
  }
  const entries = $api.useQuery('get', '/api/v1/tenant/{tenantId}/audit-logs', { params: { ...here.params, query } }, { enabled: may('audit.view') })
  if (!may('audit.view')) {
    return (
      <Page title={t`Activity`}>
        <Empty icon="lock" title={<Trans>You may not see what others did</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  const filtered = search.who || search.from || search.to
  return (
    <Page title={t`Activity`} lead={<Trans>Who changed what here, the newest first.</Trans>}>
      <div className="toolbar">
        <select className="select dense w-auto" aria-label={t`By whom`} value={search.who ?? ''} onChange={(event) => filter({ who: event.target.value || undefined })}>
          <option value="">{t`By anybody`}</option>
          {users.map((user) => <option key={user.id} value={user.id}>{user.name}</option>)}
        </select>
        <label className="row t13"><span className="faint"><Trans>From</Trans></span>
          <input className="input dense w-auto" type="date" value={search.from ?? ''} onChange={(event) => filter({ from: event.target.value || undefined })} />
        </label>
        <label className="row t13"><span className="faint"><Trans>To</Trans></span>
          <input className="input dense w-auto" type="date" value={search.to ?? ''} onChange={(event) => filter({ to: event.target.value || undefined })} />
        </label>
        {filtered && <ButtonLink size="s" look="quiet" to="/activity"><Trans>Show everything</Trans></ButtonLink>}
      </div>
      <Read query={entries} lines={8}>
        {({ data, meta }) => data.length > 0
          ? <><Days entries={data} /><Pager meta={meta} /></>
          : (
              <Empty icon="activity" title={filtered ? <Trans>Nothing happened that fits</Trans> : <Trans>Nothing has happened yet</Trans>}>
                <Trans>Here stands whatever anybody changes: people, roles, the plan, keys and webhooks.</Trans>
              </Empty>
            )}
      </Read>
    </Page>
  )
}
