import { Trans } from '@lingui/react/macro'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'

/** What stands on a page that the caller's permissions do not show. */
export function NotAllowed({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty icon="lock" title={<Trans>You may not see this</Trans>}><Trans>Ask another administrator of the platform for the permission.</Trans></Empty>
    </Page>
  )
}
