import { Page } from '../../ui/Page'

export default function WebhookEndpoint() {
  return <Page title="WebhookEndpoint">WebhookEndpoint</Page>
}
