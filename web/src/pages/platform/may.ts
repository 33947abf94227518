import { useMe } from '../../app/session'

/** Returns a function that reports whether the user has a platform permission. */
export function usePlatformMay(): (permission: string) => boolean {
  const { user } = useMe()
  return (permission) => user.permissions.includes(permission)
}
