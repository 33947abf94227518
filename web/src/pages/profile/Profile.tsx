import { Trans, useLingui } from '@lingui/react/macro'
import { useActing, useMe } from '../../app/session'
import { Note } from '../../ui/Messages'
import { Page, Section } from '../../ui/Page'
import { AccountSection } from './AccountSection'
import { Alerts } from './Alerts'
import { AvatarField } from './AvatarField'
import { NameForm } from './NameForm'
import { ProfileTabs } from './ProfileTabs'

/** Shown while an admin acts as the user: the account cannot be changed. */
export function OtherAccount({ title }: { title: string }) {
  const { user } = useMe()
  return (
    <Page title={title}>
      <Note icon="lock" title={<Trans>This is the account of {user.name}</Trans>}><Trans>You are acting as another user and cannot change this account.</Trans></Note>
    </Page>
  )
}

/** The user's account: personal details, alerts and data. */
export default function Profile() {
  const { t } = useLingui()
  const { user, currentTenant } = useMe()
  if (useActing()) return <OtherAccount title={t`Profile`} />
  return (
    <Page title={t`Profile`} lead={user.email}>
      <ProfileTabs />
      <div className="forms">
        <Section className="" title={<Trans>Personal details</Trans>}><AvatarField /><NameForm /></Section>
        {currentTenant && <Alerts />}
      </div>
      <AccountSection />
    </Page>
  )
}
