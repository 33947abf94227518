import { Page } from '../../ui/Page'

export default function Developers() {
  return <Page title="Developers">Developers</Page>
}
