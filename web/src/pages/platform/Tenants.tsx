import { Page } from '../../ui/Page'

export default function Tenants() {
  return <Page title="Tenants">Tenants</Page>
}
