import { Page } from '../../ui/Page'

export default function Team() {
  return <Page title="Team">Team</Page>
}
