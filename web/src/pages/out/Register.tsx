import { Page } from '../../ui/Page'

export default function Register() {
  return <Page title="Register">Register</Page>
}
