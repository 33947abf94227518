import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../app/session'

/** The tabs of the developers' pages, for members who see more than one. */
export function DeveloperTabs() {
  const { t } = useLingui()
  const may = useMay()
  if (!may('api_keys.manage')) return null
  return (
    <nav className="tabs gap-below" aria-label={t`Developers`}>
      <Link to="/developers" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Keys and webhooks`}</Link>
      <Link to="/developers/requests" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Requests`}</Link>
    </nav>
  )
}
