import { Trans, useLingui } from '@lingui/react/macro'
import { Endpoints } from '../../parts/hooks/Endpoints'
import { Keys } from '../../parts/keys/Keys'
import { Page } from '../../ui/Page'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

/** The platform's API keys and webhook endpoints. */
export default function Developers() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const keys = may('api_keys.manage')
  const hooks = may('webhooks.manage')
  if (!keys && !hooks) return <NotAllowed title={t`Developers`} />
  return (
    <Page title={t`Developers`} lead={<Trans>Connect your applications to the whole platform.</Trans>}>
      {keys && <Keys scope="platform" />}
      {hooks && <Endpoints scope="platform" />}
    </Page>
  )
}
