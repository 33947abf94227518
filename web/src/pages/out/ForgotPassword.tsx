import { Page } from '../../ui/Page'

export default function ForgotPassword() {
  return <Page title="ForgotPassword">ForgotPassword</Page>
}
