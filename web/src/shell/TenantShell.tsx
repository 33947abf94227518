import { useLingui } from '@lingui/react/macro'
import { Outlet } from '@tanstack/react-router'
import { useMay, useSettings, useTenant } from '../app/session'
import { useOpenInvoices } from '../pages/tenant/shared/reads'
import { Avatar } from '../ui/People'
import { Shell, type Entry } from './Shell'

/** The frame of the pages of a tenant. */
export function TenantShell() {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const tenant = useTenant()
  const may = useMay()
  const owed = useOpenInvoices().data?.data.some((one) => one.payment_action !== null)
  const entries: (Entry | false)[] = [
    { to: '/', icon: 'home', label: t`Home`, key: 'h' },
    { to: '/plan', icon: 'plan', label: t`Plan`, key: 'p' },
    { to: '/invoices', icon: 'receipt', label: t`Invoices`, key: 'i', alert: owed },
    { to: '/team', icon: 'team', label: t`Team`, key: 't' },
    (may('api_keys.manage') || may('webhooks.manage')) && { to: '/developers', icon: 'code', label: t`Developers`, key: 'd', rest: true },
    may('audit.view') && { to: '/activity', icon: 'activity', label: t`Activity`, key: 'l', rest: true },
    { to: '/settings', icon: 'settings', label: t`Settings`, key: 's', rest: true },
  ]
  return (
    <Shell mark={<Avatar square name={tenant.name} />} name={tenant.name} below={app_name} entries={entries.filter((entry) => entry !== false)}>
      <Outlet />
    </Shell>
  )
}
