import { Outlet } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { meQuery } from '../app/session'
import { TenantShell } from './TenantShell'

const PlatformShell = lazy(() => import('./PlatformShell'))

/** The frame of the profile: the tenant's, or the platform's for users without a tenant. */
export function ProfileShell() {
  const me = useSuspenseQuery(meQuery).data
  if (me?.currentTenant) return <TenantShell />
  if (me?.user.is_platform_admin) return <Suspense><PlatformShell /></Suspense>
  return <Outlet />
}
