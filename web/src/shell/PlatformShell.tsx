import { useLingui } from '@lingui/react/macro'
import { Outlet, useNavigate, type LinkProps } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useSettings } from '../app/session'
import { usePlatformMay } from '../pages/platform/may'
import { useKeys } from '../ui/keys'
import { Mark } from './Mark'
import { Shell, type Entry } from './Shell'

const Shortcuts = lazy(() => import('./Shortcuts'))

/** The frame of the platform's pages. G and a letter go to the first entries, and ? lists all keys. */
export function PlatformShell() {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const may = usePlatformMay()
  const navigate = useNavigate()
  const developers = may('api_keys.manage') || may('webhooks.manage') || may('logs.view')
  const entries: (Entry | false)[] = [
    { to: '/platform', icon: 'home', label: t`Home` },
    may('tenants.view') && { to: '/platform/tenants', icon: 'building', label: t`Tenants` },
    may('tenants.view') && { to: '/platform/invoices', icon: 'receipt', label: t`Invoices` },
    may('tenants.view') && { to: '/platform/analytics', icon: 'chart', label: t`Analytics` },
    may('products.view') && { to: '/platform/catalog', icon: 'plan', label: t`Catalog`, rest: true },
    may('logs.view') && { to: '/platform/activity', icon: 'activity', label: t`Activity`, rest: true },
    developers && { to: '/platform/developers', icon: 'code', label: t`Developers`, rest: true },
    { to: '/platform/settings', icon: 'settings', label: t`Settings`, foot: true },
  ]
  const [help, setHelp] = useState(false)
  const go = (to: LinkProps['to']) => () => void navigate({ to })
  useKeys({ 'g h': go('/platform'), 'g t': go('/platform/tenants'), 'g i': go('/platform/invoices'), 'g a': go('/platform/analytics'), '?': () => setHelp(true) })
  return (
    <Shell mark={<Mark />} name={app_name} below={t`Platform`} foot={<span>Tenantry</span>} entries={entries.filter((entry) => entry !== false)}>
      <Outlet />
      {help && <Suspense><Shortcuts onClose={() => setHelp(false)} /></Suspense>}
    </Shell>
  )
}
