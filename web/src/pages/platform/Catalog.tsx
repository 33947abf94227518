import { Page } from '../../ui/Page'

export default function Catalog() {
  return <Page title="Catalog">Catalog</Page>
}
