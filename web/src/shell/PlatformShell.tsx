import { useLingui } from '@lingui/react/macro'
import { Outlet } from '@tanstack/react-router'
import { useSettings } from '../app/session'
import { usePlatformMay } from '../pages/platform/may'
import { Mark } from './Mark'
import { Shell, type Entry } from './Shell'

/** The frame of the platform's pages. */
export function PlatformShell() {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const may = usePlatformMay()
  const developers = may('api_keys.manage') || may('webhooks.manage') || may('logs.view')
  const entries: (Entry | false)[] = [
    { to: '/platform', icon: 'home', label: t`Home`, key: 'h' },
    may('tenants.view') && { to: '/platform/tenants', icon: 'building', label: t`Tenants`, key: 't' },
    may('tenants.view') && { to: '/platform/invoices', icon: 'receipt', label: t`Invoices`, key: 'i' },
    may('tenants.view') && { to: '/platform/analytics', icon: 'chart', label: t`Analytics`, key: 'a' },
    may('products.view') && { to: '/platform/catalog', icon: 'plan', label: t`Catalog`, key: 'c', rest: true },
    may('logs.view') && { to: '/platform/activity', icon: 'activity', label: t`Activity`, key: 'l', rest: true },
    developers && { to: '/platform/developers', icon: 'code', label: t`Developers`, key: 'd', rest: true },
    { to: '/platform/settings', icon: 'settings', label: t`Settings`, key: 's', foot: true },
  ]
  return (
    <Shell mark={<Mark />} name={app_name} below={t`Platform`} foot={<span>Tenantry</span>} entries={entries.filter((entry) => entry !== false)}>
      <Outlet />
    </Shell>
  )
}
