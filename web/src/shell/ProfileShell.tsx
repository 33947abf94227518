import { Outlet } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { meQuery } from '../app/session'
import { PlatformShell } from './PlatformShell'
import { TenantShell } from './TenantShell'

/** The frame of the profile: the tenant's, or the platform's for users without a tenant. */
export function ProfileShell() {
  const me = useSuspenseQuery(meQuery).data
  if (me?.currentTenant) return <TenantShell />
  if (me?.user.is_platform_admin) return <PlatformShell />
  return <Outlet />
}
