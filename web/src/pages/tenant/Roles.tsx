import { Page } from '../../ui/Page'

export default function Roles() {
  return <Page title="Roles">Roles</Page>
}
