import { t } from '@lingui/core/macro'
import { useLingui } from '@lingui/react'

/**
 * Returns the display name of a role: translated for built-in roles, unchanged for custom roles.
 */
export function roleWord(name: string): string {
  const builtIn: Record<string, string> = { owner: t`Owner`, admin: t`Admin`, member: t`Member` }
  return builtIn[name.toLowerCase()] ?? name
}

/** Returns a function that translates role names to the reader's language. */
export function useRoleName(): (role: string) => string {
  useLingui()
  return roleWord
}
