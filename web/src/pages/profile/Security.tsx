import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { $api } from '../../api/client'
import { tenantQuery, useActing, useMe, useSettings } from '../../app/session'
import { factorsQuery } from '../../parts/factors/api'
import { Skeleton } from '../../ui/Messages'
import { Page, Setting } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { OtherAccount } from './Profile'
import { ProfileTabs } from './ProfileTabs'
import { EmailAndPassword } from './security/EmailAndPassword'
import { Factors } from './security/Factors'
import { Identities } from './security/Identities'
import { Passkeys } from './security/Passkeys'
import { Sessions } from './security/Sessions'

/** How the user signs in, and where the user is signed in. */
export default function Security() {
  const { t } = useLingui()
  const { currentTenant } = useMe()
  const { app_name } = useSettings()
  const factors = useQuery(factorsQuery)
  const tenant = useQuery({ ...tenantQuery, enabled: currentTenant !== null })
  const identities = $api.useQuery('get', '/api/v1/user/identities', {})
  const sessions = $api.useQuery('get', '/api/v1/user/sessions', {})
  // The sections appear together, so that none moves while another one loads.
  const loading = [factors, tenant, identities, sessions].some((one) => one.isLoading)
  const requiring = tenant.data?.require_mfa ? tenant.data : undefined
  const organization = requiring?.name
  if (useActing()) return <OtherAccount title={t`Security`} />
  return (
    <Page title={t`Security`} lead={<Trans>Manage how you sign in and where you are signed in.</Trans>}>
      <ProfileTabs />
      {loading
        ? <Skeleton lines={9} />
        : (
          <>
            <Setting title={<Trans>Email and password</Trans>} lead={<Trans>Changing your password signs you out everywhere else.</Trans>}>
              <Read query={factors}>{(of) => <EmailAndPassword factors={of} />}</Read>
            </Setting>
            <Setting
              title={<Trans>Two-factor authentication</Trans>}
              lead={<>{organization && <><Trans>{organization} requires a second factor.</Trans> </>}<Trans>After your password, we ask for a code or a passkey.</Trans></>}
            >
              <Read query={factors}>{(of) => <Factors factors={of} requiring={requiring} />}</Read>
            </Setting>
            <Setting title={<Trans>Passkeys</Trans>} lead={<Trans>Sign in with your fingerprint, face or screen lock. A passkey counts as both factors.</Trans>}>
              <Read query={factors}>{(of) => <Passkeys factors={of} requiring={organization} />}</Read>
            </Setting>
            <Setting title={<Trans>Connected accounts</Trans>} lead={<Trans>Sign in without your {app_name} password.</Trans>}>
              <Read query={factors}>{(of) => <Identities factors={of} />}</Read>
            </Setting>
            <Setting title={<Trans>Sessions</Trans>} lead={<Trans>If you don’t recognize a session, sign it out and change your password.</Trans>}><Sessions /></Setting>
          </>
        )}
    </Page>
  )
}
