import { Page } from '../../ui/Page'

export default function Activity() {
  return <Page title="Activity">Activity</Page>
}
