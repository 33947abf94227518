import { plural, t } from '@lingui/core/macro'

/** Returns what remains to sign in after a factor is removed. */
export function remaining(passkeys: number, app = false): string {
  const keys = plural(passkeys, { one: '# passkey', other: '# passkeys' })
  if (app) return passkeys > 0 ? t`You’ll still have your authenticator app, ${keys} and your recovery codes.` : t`You’ll still have your authenticator app and your recovery codes.`
  if (passkeys > 0) return t`You’ll still have ${keys} and your recovery codes.`
  return t`This is your last factor. Your recovery codes stop working, and you sign in without a second factor.`
}
