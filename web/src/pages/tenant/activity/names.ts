import { $api } from '../../../api/client'
import { useMay, useMe, useTenant } from '../../../app/session'
import type { NameOf } from '../../../parts/timeline/types'
import { useHere, useInvitations } from '../shared/reads'

/** Finds the current names of plans, roles, users, invitations, endpoints and keys by id. */
export function useNameOf(): NameOf {
  const here = useHere()
  const may = useMay()
  const { users, id: tenantId, name } = useTenant()
  const { user } = useMe()
  const plans = $api.useQuery('get', '/api/v1/tenant/{tenantId}/plans', here).data?.data
  const roles = $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/roles', here).data?.data
  const invitations = useInvitations().data?.data
  const endpoints = $api.useQuery('get', '/api/v1/tenant/{tenantId}/webhook-endpoints', here, { enabled: may('webhooks.manage') }).data?.data
  const keys = $api.useQuery('get', '/api/v1/tenant/{tenantId}/api-keys', here, { enabled: may('api_keys.manage') }).data?.data
  return (resource, id) => {
    switch (resource) {
      case 'user': return users.find((one) => one.id === Number(id))?.name ?? (Number(id) === user.id ? user.name : undefined)
      case 'plan': return plans?.find((one) => one.id === id)?.name
      case 'feature': return plans?.flatMap((one) => one.features).find((one) => one.code === id)?.name
      case 'role': return roles?.find((one) => one.id === Number(id))?.name
      case 'invitation': return invitations?.find((one) => one.id === id)?.email
      case 'webhook_endpoint': return endpoints?.find((one) => one.id === id)?.url
      case 'api_key': return keys?.find((one) => one.id === id)?.name
      case 'tenant': return id === tenantId ? name : undefined
      default: return undefined
    }
  }
}
