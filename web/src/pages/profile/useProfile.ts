import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'

/** Returns a function that reloads the user's account here and in lists that show it. */
export function useReadAgain(): () => Promise<void> {
  const queries = useQueryClient()
  return useCallback(async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['me'] }),
      queries.invalidateQueries({ queryKey: ['tenant'] }),
      queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).includes('/team') || String(queryKey[1]).includes('/user') || queryKey[0] === 'factors' }),
    ])
  }, [queries])
}
