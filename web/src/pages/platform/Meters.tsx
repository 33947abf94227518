import { Page } from '../../ui/Page'

export default function Meters() {
  return <Page title="Meters">Meters</Page>
}
