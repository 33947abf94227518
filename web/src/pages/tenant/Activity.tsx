import { Trans, useLingui } from '@lingui/react/macro'
import { useFilters } from '../../app/filters'
import { useMay, useTenant } from '../../app/session'
import { KindChips, kindOf, Timeline } from '../../parts/timeline/Timeline'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Changes } from './activity/Changes'
import { useNameOf } from './activity/names'

/** What happened here, in plain words: all of it, or of one kind. */
export default function Activity() {
  const { t } = useLingui()
  const may = useMay()
  if (!may('audit.view')) {
    return (
      <Page title={t`Activity`}>
        <Empty icon="lock" title={<Trans>You may not see what others did</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return <Page title={t`Activity`} lead={<Trans>What happened here, the newest first.</Trans>}><Body /></Page>
}

function Body() {
  const { id } = useTenant()
  const [search] = useFilters()
  const name = useNameOf()
  return (
    <>
      <div className="toolbar"><KindChips /></div>
      {kindOf(search) === 'changes'
        ? <Changes />
        : (
          <Timeline
            whose={{ own: id }} name={name} withInvoices
            empty={<Empty slim icon="activity" title={<Trans>Nothing has happened yet</Trans>}><Trans>Payments, changes, limits that are reached and failed webhooks appear here.</Trans></Empty>}
          />
        )}
    </>
  )
}
