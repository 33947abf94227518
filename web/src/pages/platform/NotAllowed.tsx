import { Trans } from '@lingui/react/macro'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'

/** Shown instead of a page that the user's permissions do not allow. */
export function NotAllowed({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty icon="lock" title={<Trans>You do not have permission to view this</Trans>}><Trans>Ask another platform admin for the permission.</Trans></Empty>
    </Page>
  )
}
