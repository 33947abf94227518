import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFilters } from '../../app/filters'
import { activityPages } from '../../parts/timeline/reads'
import { Timeline } from '../../parts/timeline/Timeline'
import type { Kind } from '../../parts/timeline/types'
import { Chips } from '../../ui/Chips'
import { Page } from '../../ui/Page'
import { ActingList } from './activity/ActingList'
import { AuditList } from './activity/AuditList'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

const kinds: Kind[] = ['payments', 'changes', 'usage']
const views = ['all', 'audit', 'acting'] as const

/** What happened on the platform, the audit trail with its filters, and who acted as whom. */
export default function Activity() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const view = views.find((one) => one === search.view) ?? 'all'
  const kind = kinds.find((one) => one === search.kind)
  if (!may('logs.view')) return <NotAllowed title={t`Activity`} />
  const words = { all: t`Everything`, audit: t`Audit trail`, acting: t`Acting as` }
  return (
    <Page title={t`Activity`} lead={<Trans>What happened, on the platform and at every tenant.</Trans>}>
      <nav className="tabs gap-below" aria-label={t`Activity`}>
        {views.map((one) => (
          <Link key={one} to="." activeProps={{}} search={(one === 'all' ? {} : { view: one }) as never} aria-current={one === view ? 'page' : undefined}>{words[one]}</Link>
        ))}
      </nav>
      {view === 'all' && (
        <>
          <div className="toolbar">
            <Chips
              name="kind" value={kind} label={t`Show`}
              options={[{ value: 'all', label: t`Everything` }, { value: 'payments', label: t`Payments` }, { value: 'changes', label: t`Changes` }, { value: 'usage', label: t`Limits` }]}
            />
          </div>
          <Timeline pages={activityPages(kind)} withTenant filtered={kind !== undefined} />
        </>
      )}
      {view === 'audit' && <AuditList />}
      {view === 'acting' && <ActingList />}
    </Page>
  )
}
