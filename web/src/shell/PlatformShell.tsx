import { useLingui } from '@lingui/react/macro'
import { Outlet } from '@tanstack/react-router'
import { lettersOf } from '../app/letters'
import { useSettings } from '../app/session'
import { Shell } from './Shell'

/** The operator's logo, or the first letter of the name on the accent color. */
export function Mark() {
  const { app_name, logo_url } = useSettings()
  if (logo_url) return <img className="av sq" src={logo_url} alt="" />
  return <span className="av sq logo" aria-hidden="true">{lettersOf(app_name)[0]}</span>
}

/** The frame of the platform's pages. */
export function PlatformShell() {
  const { t } = useLingui()
  const { app_name } = useSettings()
  return (
    <Shell
      mark={<Mark />} name={app_name} below={t`Platform`} foot="Tenantry"
      entries={[
        { to: '/platform', icon: 'home', label: t`Home` },
        { to: '/platform/tenants', icon: 'building', label: t`Tenants` },
        { to: '/platform/catalog', icon: 'plan', label: t`Catalog` },
        { to: '/platform/meters', icon: 'gauge', label: t`Meters` },
        { to: '/platform/activity', icon: 'activity', label: t`Activity`, rest: true },
        { to: '/platform/developers', icon: 'code', label: t`Developers`, rest: true },
        { to: '/platform/settings', icon: 'settings', label: t`Settings`, rest: true },
      ]}
    >
      <Outlet />
    </Shell>
  )
}
