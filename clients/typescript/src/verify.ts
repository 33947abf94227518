import type { Tenantry } from './client.js'

/** The claims of a token from `POST /api/v1/auth/token`: the caller of a request to your backend. */
export interface Claims {
  iss: string
  aud: string | string[]
  /** The ID of the user. */
  sub: string
  /** The ID of the tenant; null without a tenant. */
  tid: string | null
  tenant_name: string | null
  role: string | null
  /** The permissions in the tenant. */
  permissions: string[]
  /** The slug of the plan; null without a plan. */
  plan: string | null
  /** The features of the tenant by code: true, or the limit. */
  features: Record<string, true | number>
  /** The methods of the login, such as `pwd`. */
  amr: string[]
  /** The ID of the login. */
  sid: string
  iat: number
  exp: number
  /** The platform admin who impersonates the user. */
  act?: { sub: string }
}

/** Which tokens are accepted. */
export interface VerifyOptions {
  /** The public URL of the service; the base URL of the client by default. */
  issuer?: string | undefined
  /** The service's setting TENANTRY_TOKEN_AUDIENCE; the issuer by default. */
  audience?: string | undefined
}

/** A token that is malformed, has expired, or was not signed by the service for this audience: answer with 401. */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError'
}

/** The accepted difference between the clocks of the service and of this machine, in seconds. */
const skew = 60

/**
 * Verifies a token that a user's frontend got from `POST /api/v1/auth/token`, and returns its claims. An invalid
 * token is an InvalidTokenError. Any other error means that the key set could not be loaded.
 *
 * The key set is cached for the client. Most calls make no request, so a token can outlive the revocation of its
 * login or a permission by up to 5 minutes.
 */
export async function verifyToken(tenantry: Tenantry, token: string, options: VerifyOptions = {}): Promise<Claims> {
  const issuer = (options.issuer ?? tenantry.baseUrl).replace(/\/+$/, '')
  const audience = options.audience ?? issuer
  const parts = token.split('.')
  if (parts.length !== 3) throw malformed()
  const [header, payload, signature] = parts as [string, string, string]
  const { alg, kid, crit } = readPart(header)
  if (alg !== 'ES256' || crit !== undefined) throw new InvalidTokenError('The token must be signed with ES256, without extensions.')
  const signed = new TextEncoder().encode(`${header}.${payload}`)
  const bytes = decode(signature)
  const key = await keysOf(tenantry).find(String(kid))
  if (!key) throw new InvalidTokenError('The token was signed with an unknown key.')
  if (!(await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, bytes, signed))) {
    throw new InvalidTokenError('The signature of the token is wrong.')
  }
  const claims = readPart(payload)
  const now = Date.now() / 1000
  if (claims.iss !== issuer) throw new InvalidTokenError(`The issuer of the token is ${JSON.stringify(claims.iss)}, not ${JSON.stringify(issuer)}.`)
  if (!(Array.isArray(claims.aud) ? claims.aud : [claims.aud]).includes(audience)) {
    throw new InvalidTokenError(`The audience of the token is ${JSON.stringify(claims.aud)}, not ${JSON.stringify(audience)}.`)
  }
  if (typeof claims.sub !== 'string' || !claims.sub) throw new InvalidTokenError('The subject of the token is missing.')
  if (typeof claims.exp !== 'number' || now >= claims.exp + skew) throw new InvalidTokenError('The token has expired.')
  if (typeof claims.iat === 'number' && claims.iat > now + skew) throw new InvalidTokenError('The token is not valid yet.')
  return claims as unknown as Claims
}

const malformed = () => new InvalidTokenError('The token is malformed.')

function decode(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text)) throw malformed()
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0))
  } catch {
    throw malformed()
  }
}

function readPart(text: string): Record<string, unknown> {
  const bytes = decode(text)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw malformed()
  }
  if (typeof value !== 'object' || value === null) throw malformed()
  return value as Record<string, unknown>
}

/** The age from which the key set is loaded again in the background, in milliseconds. */
const fresh = 5 * 60_000
/** The age up to which the key set is used while it cannot be loaded. */
const stale = 24 * 3_600_000
/** The minimum time between two requests once there is a key set. */
const pause = 60_000

type Keys = Map<string, CryptoKey>

/** The cached key set of a service. */
class KeySet {
  private keys: Keys | undefined
  private loaded = -Infinity
  private tried = -Infinity
  private loading: Promise<Keys> | undefined

  constructor(private readonly tenantry: Tenantry) {}

  /** Returns the key with an ID. An unknown ID loads the key set again, at most once a minute. */
  async find(id: string): Promise<CryptoKey | undefined> {
    const now = Date.now()
    const age = now - this.loaded
    const key = age < stale ? this.keys?.get(id) : undefined
    if ((age >= fresh || !key) && !this.loading && (!this.keys || now - this.tried >= pause)) this.start(now)
    return key ?? (await this.loading)?.get(id)
  }

  private start(now: number): void {
    if (this.keys) this.tried = now
    this.loading = this.load()
      .then((keys) => {
        this.keys = keys
        this.loaded = now
        return keys
      })
      .finally(() => {
        this.loading = undefined
      })
    this.loading.catch(() => {}) // it may have been started in the background
  }

  private async load(): Promise<Keys> {
    const { keys } = await this.tenantry.GET('/.well-known/jwks.json')
    const usable = keys.filter((key) => key.kty === 'EC' && key.crv === 'P-256')
    const read = async ({ kid, kty, crv, x, y }: (typeof keys)[number]): Promise<[string, CryptoKey]> => [
      kid,
      await crypto.subtle.importKey('jwk', { kty, crv, x, y }, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']),
    ]
    return new Map(await Promise.all(usable.map(read)))
  }
}

const keySets = new WeakMap<Tenantry, KeySet>()

function keysOf(tenantry: Tenantry): KeySet {
  let set = keySets.get(tenantry)
  if (!set) keySets.set(tenantry, (set = new KeySet(tenantry)))
  return set
}
