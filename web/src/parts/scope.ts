/** Whose keys and endpoints are managed: the platform's, or those of a tenant. */
export type Scope = 'platform' | { tenantId: string }

/** Names a scope in the key of a query. */
export const scopeKey = (scope: Scope): string => (scope === 'platform' ? 'platform' : scope.tenantId)
