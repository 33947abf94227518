import { Trans, useLingui } from '@lingui/react/macro'
import { useFilters } from '../../app/filters'
import { useMay, useTenant } from '../../app/session'
import { KindChips, kindOf, Timeline } from '../../parts/timeline/Timeline'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Changes } from './activity/Changes'
import { useNameOf } from './activity/names'

/** The activity of the organization in plain words, of all kinds or of one. */
export default function Activity() {
  const { t } = useLingui()
  const may = useMay()
  if (!may('audit.view')) {
    return (
      <Page title={t`Activity`}>
        <Empty icon="lock" title={<Trans>You do not have permission to view the activity of the team</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return <Page title={t`Activity`} lead={<Trans>Activity in your organization, newest first.</Trans>}><Body /></Page>
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
            empty={<Empty slim icon="activity" title={<Trans>No activity yet</Trans>}><Trans>Payments, changes, reached limits and failed webhooks appear here.</Trans></Empty>}
          />
        )}
    </>
  )
}
