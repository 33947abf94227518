import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { scopeKey, type Scope } from '../scope'

/** The routes of API keys, the platform's or a tenant's: they differ in their path alone. */
export function keysOf(scope: Scope) {
  type Create = Schema<'CreateAPIKeyRequest'>
  if (scope === 'platform') {
    const at = (key: string) => ({ path: { key } })
    return {
      list: async () => (await api.GET('/api/v1/admin/api-keys')).data!.data,
      create: async (body: Create) => (await api.POST('/api/v1/admin/api-keys', { body })).data!.data,
      rename: (key: string, name: string) => api.PATCH('/api/v1/admin/api-keys/{key}', { params: at(key), body: { name } }),
      rotate: async (key: string, overlap_minutes: number) =>
        (await api.POST('/api/v1/admin/api-keys/{key}/rotate', { params: at(key), body: { overlap_minutes } })).data!.data,
      end: (key: string) => api.DELETE('/api/v1/admin/api-keys/{key}', { params: at(key) }),
    }
  }
  const { tenantId } = scope
  const at = (key: string) => ({ path: { tenantId, key } })
  return {
    list: async () => (await api.GET('/api/v1/tenant/{tenantId}/api-keys', { params: { path: { tenantId } } })).data!.data,
    create: async (body: Create) => (await api.POST('/api/v1/tenant/{tenantId}/api-keys', { params: { path: { tenantId } }, body })).data!.data,
    rename: (key: string, name: string) => api.PATCH('/api/v1/tenant/{tenantId}/api-keys/{key}', { params: at(key), body: { name } }),
    rotate: async (key: string, overlap_minutes: number) =>
      (await api.POST('/api/v1/tenant/{tenantId}/api-keys/{key}/rotate', { params: at(key), body: { overlap_minutes } })).data!.data,
    end: (key: string) => api.DELETE('/api/v1/tenant/{tenantId}/api-keys/{key}', { params: at(key) }),
  }
}

/** The keys of a scope, the newest first. */
export const keysQuery = (scope: Scope) => queryOptions({ queryKey: ['api-keys', scopeKey(scope)], queryFn: keysOf(scope).list })
