import { Trans, useLingui } from '@lingui/react/macro'
import { RequestLog } from '../../parts/requests/RequestLog'
import { Page } from '../../ui/Page'
import { DeveloperTabs } from './DeveloperTabs'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

/** The request log of the platform and of all tenants. */
export default function Requests() {
  const { t } = useLingui()
  const may = usePlatformMay()
  if (!may('logs.view')) return <NotAllowed needs={['logs.view']} title={t`Requests`} />
  return (
    <Page title={t`Requests`} heading={t`Developers`} lead={<Trans>Requests with API keys, and requests of members that failed.</Trans>} wide>
      <DeveloperTabs />
      <RequestLog scope="platform" />
    </Page>
  )
}
