/** The owner of keys and endpoints: the platform or a tenant. */
export type Scope = 'platform' | { tenantId: string }

/** Returns a scope's part of a query key. */
export const scopeKey = (scope: Scope): string => (scope === 'platform' ? 'platform' : scope.tenantId)
