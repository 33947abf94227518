import { Page } from '../../ui/Page'

export default function Invoice() {
  return <Page title="Invoice">Invoice</Page>
}
