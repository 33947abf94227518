import { Page } from '../../ui/Page'

export default function Pricing() {
  return <Page title="Pricing">Pricing</Page>
}
