import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFilters } from '../../app/filters'
import { Page } from '../../ui/Page'
import { ActingList } from './activity/ActingList'
import { Everything } from './activity/Everything'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

const views = ['all', 'acting'] as const

/** All activity, and the impersonation log. */
export default function Activity() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const view = views.find((one) => one === search.view) ?? 'all'
  if (!may('logs.view')) return <NotAllowed needs={['logs.view']} title={t`Activity`} />
  const words = { all: t`Timeline`, acting: t`Acting as` }
  return (
    <Page title={t`Activity`} lead={<Trans>Activity on the platform and of all tenants.</Trans>}>
      <nav className="tabs gap-below" aria-label={t`Activity`}>
        {views.map((one) => (
          <Link key={one} to="." activeProps={{}} activeOptions={{ exact: true, includeSearch: true }} search={(one === 'all' ? {} : { view: one }) as never} aria-current={one === view ? 'page' : undefined}>{words[one]}</Link>
        ))}
      </nav>
      {view === 'all' ? <Everything /> : <ActingList />}
    </Page>
  )
}
