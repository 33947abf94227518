import { useParams } from '@tanstack/react-router'
import { Endpoint } from '../../parts/hooks/Endpoint'

/** A webhook endpoint of the platform. */
export default function WebhookEndpoint() {
  const { endpointId } = useParams({ from: '/signed-in/platform/developers/webhooks/$endpointId' })
  return <Endpoint scope="platform" id={endpointId} />
}
