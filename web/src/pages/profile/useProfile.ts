import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'

/** Returns what reads the own account again, here and in the lists that show it. */
export function useReadAgain(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['me'] }),
      queries.invalidateQueries({ queryKey: ['tenant'] }),
      queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).includes('/team') || String(queryKey[1]).includes('/user') }),
    ])
  }, [queries])
}
