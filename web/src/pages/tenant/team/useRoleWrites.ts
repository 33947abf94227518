import { api, type Schema } from '../../../api/client'
import { useHere, useRefresh } from '../shared/reads'

/** The writes to custom roles of the organization. */
export function useRoleWrites() {
  const { params: { path } } = useHere()
  const refresh = useRefresh()
  const read = () => refresh('/roles', '/team', '/audit-logs')
  const of = (role: Schema<'TenantRole'>) => ({ params: { path: { ...path, role: String(role.id) } } })
  return {
    async create(name: string, permissions: string[]) {
      await api.POST('/api/v1/tenant/{tenantId}/roles', { params: { path }, body: { name, permissions } })
      await read()
    },
    async update(role: Schema<'TenantRole'>, body: Schema<'UpdateRoleRequest'>) {
      await api.PATCH('/api/v1/tenant/{tenantId}/roles/{role}', { ...of(role), body })
      await read()
    },
    async remove(role: Schema<'TenantRole'>) {
      await api.DELETE('/api/v1/tenant/{tenantId}/roles/{role}', of(role))
      await read()
    },
  }
}
