import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useMay, useTenant } from '../../app/session'
import { Endpoints } from '../../parts/hooks/Endpoints'
import { endpointsQuery } from '../../parts/hooks/api'
import { keysQuery } from '../../parts/keys/api'
import { Keys } from '../../parts/keys/Keys'
import { Empty, Skeleton } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { DeveloperTabs } from './DeveloperTabs'

/** The API keys and webhook endpoints of the organization. */
export default function Developers() {
  const { t } = useLingui()
  const may = useMay()
  const { id } = useTenant()
  const keys = may('api_keys.manage')
  const hooks = may('webhooks.manage')
  const scope = { tenantId: id }
  // Show both lists at the same time, so that the first does not push the second down.
  const pending = [useQuery({ ...keysQuery(scope), enabled: keys }), useQuery({ ...endpointsQuery(scope), enabled: hooks })].some((one) => one.isLoading)
  if (!keys && !hooks) {
    return (
      <Page title={t`Developers`}>
        <Empty icon="lock" title={<Trans>You do not have permission to manage API keys and webhooks</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return (
    <Page title={t`Developers`} lead={<Trans>Connect your applications to this organization.</Trans>}>
      <DeveloperTabs />
      {pending && <Skeleton lines={6} />}
      {!pending && keys && <Keys scope={scope} />}
      {!pending && hooks && <Endpoints scope={scope} />}
    </Page>
  )
}
