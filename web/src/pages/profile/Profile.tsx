import { Trans, useLingui } from '@lingui/react/macro'
import { useMe } from '../../app/session'
import { Note } from '../../ui/Messages'
import { Page, Section } from '../../ui/Page'
import { AccountSection } from './AccountSection'
import { Alerts } from './Alerts'
import { AvatarField } from './AvatarField'
import { EmailForm } from './EmailForm'
import { NameForm } from './NameForm'
import { PasswordForm } from './PasswordForm'
import { Sessions } from './Sessions'

/** The user's account: personal data, sign-in methods and sessions. */
export default function Profile() {
  const { t } = useLingui()
  const { user, currentTenant, impersonation } = useMe()
  if (impersonation?.is_impersonating) {
    return (
      <Page title={t`Profile`}>
        <Note icon="lock" title={<Trans>This is the account of {user.name}</Trans>}><Trans>You are acting as another user and cannot change this account.</Trans></Note>
      </Page>
    )
  }
  return (
    <Page title={t`Profile`} lead={user.email}>
      <div className="forms">
        <Section className="" title={<Trans>Personal details</Trans>}><AvatarField /><NameForm /></Section>
        <Section title={<Trans>Email</Trans>}><EmailForm /></Section>
        <Section title={<Trans>Password</Trans>} lead={<Trans>Changing your password signs you out of all other sessions.</Trans>}><PasswordForm /></Section>
        {currentTenant && <Alerts />}
      </div>
      <Sessions />
      <AccountSection />
    </Page>
  )
}
