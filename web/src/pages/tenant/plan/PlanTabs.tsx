import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'

/** The tabs of the plan: the plan itself, and its usage. */
export function PlanTabs() {
  const { t } = useLingui()
  return (
    <nav className="tabs gap-below" aria-label={t`Plan and usage`}>
      <Link to="/plan" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Plan`}</Link>
      <Link to="/plan/usage" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Usage`}</Link>
    </nav>
  )
}
