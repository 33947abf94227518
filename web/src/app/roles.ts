import { t } from '@lingui/core/macro'
import { useLingui } from '@lingui/react'

/** The name of a role: those that every tenant has in the reader's language; a role of the tenant's own keeps its name. */
export function roleWord(name: string): string {
  const builtIn: Record<string, string> = { owner: t`Owner`, admin: t`Admin`, member: t`Member` }
  return builtIn[name.toLowerCase()] ?? name
}

/** Names roles in the reader's language. */
export function useRoleName(): (role: string) => string {
  useLingui()
  return roleWord
}
