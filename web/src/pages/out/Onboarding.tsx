import { Page } from '../../ui/Page'

export default function Onboarding() {
  return <Page title="Onboarding">Onboarding</Page>
}
