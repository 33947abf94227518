import { useLingui } from '@lingui/react/macro'

/** Names the roles that every tenant has; a role of the tenant's own keeps its name. */
export function useRoleName(): (role: string) => string {
  const { t } = useLingui()
  const names: Record<string, string> = { owner: t`Owner`, admin: t`Admin`, member: t`Member` }
  return (role) => names[role] ?? role
}
