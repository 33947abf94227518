import { Page } from '../../ui/Page'

export default function OAuthCallback() {
  return <Page title="OAuthCallback">OAuthCallback</Page>
}
