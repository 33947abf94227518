import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { usePlatformMay } from '../may'

/** The tabs of the platform's settings. */
export function SettingsTabs() {
  const { t } = useLingui()
  const may = usePlatformMay()
  if (!may('tenants.view')) return null
  return (
    <nav className="tabs gap-below" aria-label={t`Settings`}>
      <Link to="/platform/settings" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`General`}</Link>
      <Link to="/platform/settings/admins" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Platform admins`}</Link>
    </nav>
  )
}
