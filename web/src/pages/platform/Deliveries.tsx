import { useLingui } from '@lingui/react/macro'
import { useParams } from '@tanstack/react-router'
import { DeliveryPage } from '../../parts/hooks/DeliveryPage'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

/** The deliveries of all endpoints, of the platform and of tenants. */
export default function Deliveries() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const { deliveryId } = useParams({ strict: false })
  if (!may('webhooks.manage') || !may('tenants.view')) return <NotAllowed needs={['webhooks.manage', 'tenants.view']} title={t`Deliveries`} />
  return <DeliveryPage scope="platform" id={deliveryId} />
}
