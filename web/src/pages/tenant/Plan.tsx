import { Page } from '../../ui/Page'

export default function Plan() {
  return <Page title="Plan">Plan</Page>
}
