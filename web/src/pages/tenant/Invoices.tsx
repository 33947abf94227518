import { Page } from '../../ui/Page'

export default function Invoices() {
  return <Page title="Invoices">Invoices</Page>
}
