import { Trans, useLingui } from '@lingui/react/macro'
import { useMay, useTenant } from '../../app/session'
import { Endpoints } from '../../parts/hooks/Endpoints'
import { Keys } from '../../parts/keys/Keys'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'

/** The keys and webhook endpoints with which one's own programs work with the organization. */
export default function Developers() {
  const { t } = useLingui()
  const may = useMay()
  const { id } = useTenant()
  const keys = may('api_keys.manage')
  const hooks = may('webhooks.manage')
  if (!keys && !hooks) {
    return (
      <Page title={t`Developers`}>
        <Empty icon="lock" title={<Trans>You may not manage keys and webhooks</Trans>}><Trans>Ask an admin or the owner of your organization.</Trans></Empty>
      </Page>
    )
  }
  return (
    <Page title={t`Developers`} lead={<Trans>How programs of yours work with the organization.</Trans>}>
      {keys && <Keys scope={{ tenantId: id }} />}
      {hooks && <Endpoints scope={{ tenantId: id }} />}
    </Page>
  )
}
