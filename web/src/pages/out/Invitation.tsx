import { Page } from '../../ui/Page'

export default function Invitation() {
  return <Page title="Invitation">Invitation</Page>
}
