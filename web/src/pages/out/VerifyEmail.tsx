import { Page } from '../../ui/Page'

export default function VerifyEmail() {
  return <Page title="VerifyEmail">VerifyEmail</Page>
}
