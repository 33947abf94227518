import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'

/** The tabs of the settings: the organization, and how its members sign in. */
export function SettingsTabs() {
  const { t } = useLingui()
  return (
    <nav className="tabs" aria-label={t`Settings`}>
      <Link to="/settings" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`General`}</Link>
      <Link to="/settings/sign-in" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Sign-in`}</Link>
    </nav>
  )
}
