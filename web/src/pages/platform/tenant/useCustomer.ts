import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { oneQuery } from './reads'

/** Returns the tenant of the page. Only for the tabs, which are shown once it is loaded. */
export function useCustomer(): Schema<'AdminTenant'> {
  const { tenantId } = useParams({ from: '/signed-in/platform/tenants/$tenantId' })
  return useSuspenseQuery(oneQuery(tenantId)).data
}
