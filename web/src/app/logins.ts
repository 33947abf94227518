import { ApiError, type Schema } from '../api/client'

export type Factor = 'passkey' | 'recovery_code' | 'totp'

/** A login that needs a second factor. */
export interface Challenge {
  challenge: string
  factors: Factor[]
}

/** Returns the challenge if a login needs a second factor. */
export function challengeOf(error: unknown): Challenge | undefined {
  if (!(error instanceof ApiError) || error.code !== 'MFA_REQUIRED' || typeof error.body.challenge !== 'string') return undefined
  return error.body as unknown as Challenge
}

/** Returns the login method or the factor that was used last in this browser. */
export function lastUsed(what: 'login-method' | 'login-factor'): string | null {
  try {
    return localStorage.getItem(what)
  } catch {
    return null
  }
}

export function rememberUsed(what: 'login-method' | 'login-factor', value: string): void {
  try {
    localStorage.setItem(what, value)
  } catch {
    // Without storage nothing is marked as last used.
  }
}

let password: string | undefined

/** Keeps the password of a login in memory for five minutes: a required enrollment may use it once. */
export function keepPassword(text: string): void {
  password = text
  setTimeout(() => { password = undefined }, 300_000)
}

/** Returns the password of the last login, once. */
export function takePassword(): string | undefined {
  const text = password
  password = undefined
  return text
}

export type LoginMethod = 'password' | 'oauth' | 'passkey' | 'email_code'

/** Returns the login methods that the operator allows. */
export function loginMethods(settings: Schema<'Settings'>): LoginMethod[] {
  return (settings as { login_methods?: LoginMethod[] }).login_methods ?? ['password', 'oauth', 'passkey']
}
