import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../../../api/client'
import { toast } from '../../../ui/Toast'

/** Returns a function that reloads the pages and lists of tenants after a change and reports it. */
export function useSaved(onClose: () => void): (text: ReactNode) => Promise<void> {
  const queries = useQueryClient()
  return async (text) => {
    await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
    onClose()
    toast(text)
  }
}

/** Returns an error of a field, as the service would return it. */
export function fieldError(field: string, message: string): ApiError {
  return new ApiError(422, message, undefined, { [field]: [message] })
}
