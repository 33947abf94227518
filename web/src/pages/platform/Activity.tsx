import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFilters } from '../../app/filters'
import { Page } from '../../ui/Page'
import { ActingList } from './activity/ActingList'
import { Everything } from './activity/Everything'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

const views = ['all', 'acting'] as const

/** What happened anywhere, and who acted as whom. */
export default function Activity() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const view = views.find((one) => one === search.view) ?? 'all'
  if (!may('logs.view')) return <NotAllowed title={t`Activity`} />
  const words = { all: t`Time line`, acting: t`Acting as` }
  return (
    <Page title={t`Activity`} lead={<Trans>What happened, on the platform and at every tenant.</Trans>}>
      <nav className="tabs gap-below" aria-label={t`Activity`}>
        {views.map((one) => (
          <Link key={one} to="." activeProps={{}} activeOptions={{ exact: true, includeSearch: true }} search={(one === 'all' ? {} : { view: one }) as never} aria-current={one === view ? 'page' : undefined}>{words[one]}</Link>
        ))}
      </nav>
      {view === 'all' ? <Everything /> : <ActingList />}
    </Page>
  )
}
