/**
 * A client of Tenantry's API for browsers and Node.js: docs/typescript.md.
 */
export { apiKey, type Auth } from './auth.js'
export {
  createClient,
  type Answer,
  type Call,
  type ClientOptions,
  type Entry,
  type Input,
  type ListPath,
  type Method,
  type PathWith,
  type Schema,
  type Tenantry,
} from './client.js'
export { cookies, type Forwarded } from './cookies.js'
export { cachedEntitlements } from './entitlements.js'
export { isTenantryError, TenantryError, type ErrorCode } from './error.js'
export { finishPopup, logInAt, type PopupEnd } from './login.js'
export { permissionsOf, readPermissions, type Permissions, type TenantPermission } from './permissions.js'
export type { components, paths } from './schema.js'
export type { Send, SendOptions } from './send.js'
export { memoryStore, tokens, type Tokens, type TokenStore } from './tokens.js'
export { recordUsage } from './usage.js'
export { InvalidTokenError, verifyToken, type Claims, type VerifyOptions } from './verify.js'
