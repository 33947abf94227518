import { useMe } from '../../app/session'

/** Returns whether the caller holds a permission on the platform. */
export function usePlatformMay(): (permission: string) => boolean {
  const { user } = useMe()
  return (permission) => user.permissions.includes(permission)
}
