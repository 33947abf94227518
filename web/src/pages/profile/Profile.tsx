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

/** One's own account: who one is, how one signs in, and where one is signed in. */
export default function Profile() {
  const { t } = useLingui()
  const { user, currentTenant, impersonation } = useMe()
  if (impersonation?.is_impersonating) {
    return (
      <Page title={t`Profile`}>
        <Note icon="lock" title={<Trans>This is the account of {user.name}</Trans>}><Trans>Acting as somebody else, you cannot change it.</Trans></Note>
      </Page>
    )
  }
  return (
    <Page title={t`Profile`} lead={user.email}>
      <div className="forms">
        <Section className="" title={<Trans>You</Trans>}><AvatarField /><NameForm /></Section>
        <Section title={<Trans>Email</Trans>}><EmailForm /></Section>
        <Section title={<Trans>Password</Trans>} lead={<Trans>A new one ends every other login.</Trans>}><PasswordForm /></Section>
        {currentTenant && <Alerts />}
      </div>
      <Sessions />
      <AccountSection />
    </Page>
  )
}
