import { Page } from '../../ui/Page'

export default function PlanEditor() {
  return <Page title="PlanEditor">PlanEditor</Page>
}
