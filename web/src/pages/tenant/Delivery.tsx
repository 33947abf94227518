import { useParams } from '@tanstack/react-router'
import { useTenant } from '../../app/session'
import { DeliveryPage } from '../../parts/hooks/DeliveryPage'

/** A delivery to a webhook endpoint of the organization, beside the others. */
export default function Delivery() {
  const { id } = useTenant()
  const { endpointId, deliveryId } = useParams({ from: '/signed-in/tenant/developers/webhooks/$endpointId/$deliveryId' })
  return <DeliveryPage scope={{ tenantId: id }} endpointId={endpointId} id={deliveryId} />
}
