import { Page } from '../../ui/Page'

export default function Features() {
  return <Page title="Features">Features</Page>
}
