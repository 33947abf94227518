import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { usePlatformMay } from './may'

/** The tabs of the developers' pages. */
export function DeveloperTabs() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const current = { 'aria-current': 'page' } as const
  return (
    <nav className="tabs gap-below" aria-label={t`Developers`}>
      <Link to="/platform/developers" activeOptions={{ exact: true, includeSearch: false }} activeProps={current}>{t`Keys and webhooks`}</Link>
      {may('webhooks.manage') && may('tenants.view') && <Link to="/platform/developers/deliveries" activeOptions={{ includeSearch: false }} activeProps={current}>{t`Deliveries`}</Link>}
      {may('logs.view') && <Link to="/platform/developers/requests" activeOptions={{ includeSearch: false }} activeProps={current}>{t`Requests`}</Link>}
    </nav>
  )
}
