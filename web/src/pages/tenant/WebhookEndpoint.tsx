import { useParams } from '@tanstack/react-router'
import { useTenant } from '../../app/session'
import { Endpoint } from '../../parts/hooks/Endpoint'

/** A webhook endpoint of the organization. */
export default function WebhookEndpoint() {
  const { id } = useTenant()
  const { endpointId } = useParams({ strict: false }) as { endpointId: string }
  return <Endpoint scope={{ tenantId: id }} id={endpointId} />
}
