import { Trans, useLingui } from '@lingui/react/macro'
import { useMay, useTenant } from '../../app/session'
import { RequestLog } from '../../parts/requests/RequestLog'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { DeveloperTabs } from './DeveloperTabs'

/** The request log of the organization. */
export default function Requests() {
  const { t } = useLingui()
  const may = useMay()
  const { id } = useTenant()
  if (!may('api_keys.manage')) {
    return (
      <Page title={t`Requests`}>
        <Empty icon="lock" title={<Trans>You do not have permission to manage API keys and webhooks</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return (
    <Page title={t`Requests`} heading={t`Developers`} lead={<Trans>Requests with your API keys, and requests of members that failed.</Trans>}>
      <DeveloperTabs />
      <RequestLog scope={{ tenantId: id }} />
    </Page>
  )
}
