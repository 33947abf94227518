import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../../../api/client'
import { toast } from '../../../ui/Toast'
import { tenantKey } from './reads'

/** Returns a function that reloads a tenant's page after a change and reports it. */
export function useSaved(tenant: string, onClose: () => void): (text: ReactNode) => Promise<void> {
  const queries = useQueryClient()
  return async (text) => {
    await Promise.all([queries.invalidateQueries({ queryKey: tenantKey(tenant) }), queries.invalidateQueries({ queryKey: ['audit'] })])
    onClose()
    toast(text)
  }
}

/** Returns an error of a field, as the service would return it. */
export function fieldError(field: string, message: string): ApiError {
  return new ApiError(422, message, undefined, { [field]: [message] })
}
