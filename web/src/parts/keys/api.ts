import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { scopeKey, type Scope } from '../scope'

/** The routes of API keys, the platform's or a tenant's: they differ in their path alone. */
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

/** What all pages of the keys of a scope are cached under. */
export const keysKey = (scope: Scope) => ['api-keys', scopeKey(scope)]

/** A page of the keys of a scope, the newest first. */
export const keysQuery = (scope: Scope, page = 1) => queryOptions({ queryKey: [...keysKey(scope), page], queryFn: () => keysOf(scope).list(page) })
