import { useLingui } from '@lingui/react/macro'
import { ApiError } from '../../../api/client'

/** Returns a function that sends a change, and shows at the role that it has too many permissions. */
export function useRoleErrors(): <T>(send: () => Promise<T>) => Promise<T> {
  const { t } = useLingui()
  return async (send) => {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403 || error.code) throw error
      const message = t`You can’t give a role more permissions than your own.`
      throw new ApiError(422, message, undefined, { role: [message] })
    }
  }
}
