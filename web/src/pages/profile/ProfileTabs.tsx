import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'

/** The tabs of the account: personal details, and how the user signs in. */
export function ProfileTabs() {
  const { t } = useLingui()
  return (
    <nav className="tabs" aria-label={t`Profile`}>
      <Link to="/profile" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Profile`}</Link>
      <Link to="/profile/security" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Security`}</Link>
    </nav>
  )
}
