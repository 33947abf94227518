import { Trans, useLingui } from '@lingui/react/macro'
import { Navigate } from '@tanstack/react-router'
import { Endpoints } from '../../parts/hooks/Endpoints'
import { Keys } from '../../parts/keys/Keys'
import { Page } from '../../ui/Page'
import { DeveloperTabs } from './DeveloperTabs'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

/** The platform's API keys and webhook endpoints. */
export default function Developers() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const keys = may('api_keys.manage')
  const hooks = may('webhooks.manage')
  // Who only reads logs gets to the requests.
  if (!keys && !hooks && may('logs.view')) return <Navigate to="/platform/developers/requests" replace />
  if (!keys && !hooks) return <NotAllowed needs={['api_keys.manage']} title={t`Developers`} />
  return (
    <Page title={t`Developers`} lead={<Trans>Connect your applications to the whole platform.</Trans>}>
      <DeveloperTabs />
      {keys && <Keys scope="platform" />}
      {hooks && <Endpoints scope="platform" />}
    </Page>
  )
}
