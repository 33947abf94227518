import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFilters } from '../../app/filters'
import { Page } from '../../ui/Page'
import { ActingList } from './activity/ActingList'
import { AuditList } from './activity/AuditList'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

const views = ['audit', 'acting'] as const

/** What was changed, by whom, and who acted as whom. */
export default function Activity() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const view = views.find((one) => one === search.view) ?? 'audit'
  if (!may('logs.view')) return <NotAllowed title={t`Activity`} />
  const words = { audit: t`Changes`, acting: t`Acting as` }
  return (
    <Page title={t`Activity`} lead={<Trans>What happened, on the platform and at every tenant.</Trans>}>
      <nav className="tabs gap-below" aria-label={t`Activity`}>
        {views.map((one) => (
          <Link key={one} to="." activeProps={{}} activeOptions={{ exact: true, includeSearch: true }} search={(one === 'audit' ? {} : { view: one }) as never} aria-current={one === view ? 'page' : undefined}>{words[one]}</Link>
        ))}
      </nav>
      {view === 'audit' ? <AuditList /> : <ActingList />}
    </Page>
  )
}
