import { Page } from '../../ui/Page'

export default function Tenant() {
  return <Page title="Tenant">Tenant</Page>
}
