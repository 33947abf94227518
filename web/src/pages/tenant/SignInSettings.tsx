import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useActing, useHolds, useTenant } from '../../app/session'
import { factorsQuery } from '../../parts/factors/api'
import { Skeleton } from '../../ui/Messages'
import { Locked, Page, Setting } from '../../ui/Page'
import { SettingsTabs } from './settings/SettingsTabs'
import { useMembers } from './shared/reads'
import { Domains } from './signin/Domains'
import { Requirement } from './signin/Requirement'
import { useDomains, useSso } from './signin/reads'
import { SingleSignOn } from './signin/SingleSignOn'

/** How members of the organization sign in: the second factor, verified domains, single sign-on. */
export default function SignInSettings() {
  const { t } = useLingui()
  const { name } = useTenant()
  const acting = useActing()
  // The sections appear together, so that none moves while another one loads.
  const loading = [useQuery(factorsQuery), useMembers(), useDomains(), useSso()].some((one) => one.isLoading)
  return (
    <Page title={t`Sign-in`} lead={<Trans>Control how members of {name} sign in.</Trans>}>
      <SettingsTabs />
      {acting && <div className="gap-below"><Locked><Trans>Not available while you act as another user.</Trans></Locked></div>}
      {loading ? <Skeleton lines={9} /> : <Sections />}
    </Page>
  )
}

function Sections() {
  const holds = useHolds()
  const acting = useActing()
  return (
    <>
      <Setting
        off={acting} title={<Trans>Two-factor authentication</Trans>}
        lead={<Trans>Members without a second factor lose access until they add one. API keys are not affected.</Trans>}
      >
        {holds('tenant.update') ? <Requirement /> : <Locked><Trans>Only members who manage the organization can change this.</Trans></Locked>}
      </Setting>
      {holds('sso.manage')
        ? <><Domains off={acting} /><SingleSignOn off={acting} /></>
        : <Setting title={<Trans>Domains and single sign-on</Trans>}><Locked><Trans>Only members who manage SSO can change this.</Trans></Locked></Setting>}
    </>
  )
}
