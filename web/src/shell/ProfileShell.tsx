import { Link, Outlet } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { meQuery, useSettings } from '../app/session'
import { Mark } from './Mark'
import { PlatformShell } from './PlatformShell'
import { TenantShell } from './TenantShell'
import { WhoMenu } from './WhoMenu'

/** The frame of the profile: the tenant's, or the platform's for users without a tenant. */
export function ProfileShell() {
  const me = useSuspenseQuery(meQuery).data
  const { app_name } = useSettings()
  if (me?.currentTenant) return <TenantShell />
  if (me?.user.is_platform_admin) return <PlatformShell />
  if (!me) return <Outlet />
  return (
    <div className="out">
      <header>
        <Link className="brand" to="/onboarding"><Mark /><b>{app_name}</b></Link>
        <span className="end"><WhoMenu /></span>
      </header>
      <Outlet />
    </div>
  )
}
