import { Page } from '../../ui/Page'

export default function ResetPassword() {
  return <Page title="ResetPassword">ResetPassword</Page>
}
