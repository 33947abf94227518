import { $api } from '../../../api/client'
import { useMay, useMe, useSettings, useTenant } from '../../../app/session'
import { useHere, useInvitations } from '../shared/reads'

/** Returns the names of what the trail names by an id; undefined for what is not there any more. */
export function useNames() {
  const here = useHere()
  const may = useMay()
  const tenant = useTenant()
  const { user } = useMe()
  const { app_name } = useSettings()
  const plans = $api.useQuery('get', '/api/v1/tenant/{tenantId}/plans', here).data?.data
  const roles = $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/roles', here).data?.data
  const invitations = useInvitations().data?.data
  const endpoints = $api.useQuery('get', '/api/v1/tenant/{tenantId}/webhook-endpoints', here, { enabled: may('webhooks.manage') }).data?.data
  const keys = $api.useQuery('get', '/api/v1/tenant/{tenantId}/api-keys', here, { enabled: may('api_keys.manage') }).data?.data
  const person = (id: unknown) => tenant.users.find((one) => one.id === Number(id))?.name ?? (Number(id) === user.id ? user.name : undefined)
  return {
    person,
    service: app_name,
    plan: (id: unknown) => plans?.find((one) => one.id === id)?.name,
    role: (id: unknown) => roles?.find((one) => one.id === Number(id))?.name,
    invitation: (id: unknown) => invitations?.find((one) => one.id === id),
    endpoint: (id: unknown) => endpoints?.find((one) => one.id === id)?.url,
    key: (id: unknown) => keys?.find((one) => one.id === id)?.name,
  }
}
