import { listQuery } from '../lists/reads'

/** The newest hundred tenants, which are all tenants of a small platform. */
export const newestQuery = { ...listQuery('tenants', { per_page: 100 }), staleTime: 60_000 }
