import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { scopeKey, type Scope } from '../scope'

/** The routes of API keys of the platform or a tenant. They only differ in their path. */
export function keysOf(scope: Scope) {
  type Create = Schema<'CreateAPIKeyRequest'>
  if (scope === 'platform') {
    const at = (key: string) => ({ path: { key } })
    return {
      list: async (page: number) => (await api.GET('/api/v1/admin/api-keys', { params: { query: { page } } })).data!,
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
    list: async (page: number) => (await api.GET('/api/v1/tenant/{tenantId}/api-keys', { params: { path: { tenantId }, query: { page } } })).data!,
    create: async (body: Create) => (await api.POST('/api/v1/tenant/{tenantId}/api-keys', { params: { path: { tenantId } }, body })).data!.data,
    rename: (key: string, name: string) => api.PATCH('/api/v1/tenant/{tenantId}/api-keys/{key}', { params: at(key), body: { name } }),
    rotate: async (key: string, overlap_minutes: number) =>
      (await api.POST('/api/v1/tenant/{tenantId}/api-keys/{key}/rotate', { params: at(key), body: { overlap_minutes } })).data!.data,
    end: (key: string) => api.DELETE('/api/v1/tenant/{tenantId}/api-keys/{key}', { params: at(key) }),
  }
}

/** The query key of all pages of the API keys of a scope. */
export const keysKey = (scope: Scope) => ['api-keys', scopeKey(scope)]

/** A page of the API keys of a scope, newest first. */
export const keysQuery = (scope: Scope, page = 1) => queryOptions({ queryKey: [...keysKey(scope), page], queryFn: () => keysOf(scope).list(page) })
