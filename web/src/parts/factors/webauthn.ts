type Json = Record<string, unknown>

/** Reports whether the browser supports passkeys. */
export function supportsPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function'
}

/** Reports whether the browser offers passkeys in the email field of a login. */
export async function supportsAutofill(): Promise<boolean> {
  return supportsPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true
}

/** Reports whether the user closed the prompt, it timed out, or the device has no such passkey. */
export function isPromptClosed(error: unknown): boolean {
  return error instanceof DOMException
}

function decode(text: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(String(text).replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))
}

function encode(buffer: ArrayBuffer | null | undefined): string | undefined {
  return buffer ? btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') : undefined
}

const decodeIds = (list: unknown) => (list as Json[] | undefined)?.map((one) => ({ ...one, id: decode(one.id) }))

// Browsers before 2025 lack parse…OptionsFromJSON and toJSON.

function creationOptions(options: Json): PublicKeyCredentialCreationOptions {
  if ('parseCreationOptionsFromJSON' in PublicKeyCredential) return PublicKeyCredential.parseCreationOptionsFromJSON(options as never)
  const { challenge, user, excludeCredentials } = options as { challenge: string; user: Json; excludeCredentials?: Json[] }
  return { ...options, challenge: decode(challenge), user: { ...user, id: decode(user.id) }, excludeCredentials: decodeIds(excludeCredentials) } as never
}

function requestOptions(options: Json): PublicKeyCredentialRequestOptions {
  if ('parseRequestOptionsFromJSON' in PublicKeyCredential) return PublicKeyCredential.parseRequestOptionsFromJSON(options as never)
  return { ...options, challenge: decode(options.challenge), allowCredentials: decodeIds(options.allowCredentials) } as never
}

function toJson(credential: PublicKeyCredential): Json {
  if ('toJSON' in credential) return credential.toJSON() as unknown as Json
  const { id, type, authenticatorAttachment, response } = credential as PublicKeyCredential
  const binary = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
  const parts = response as unknown as Record<string, ArrayBuffer>
  return {
    id, rawId: id, type, authenticatorAttachment, clientExtensionResults: (credential as PublicKeyCredential).getClientExtensionResults(),
    response: Object.fromEntries(binary.map((name) => [name, encode(parts[name])])),
  }
}

function found(credential: Credential | null): Json {
  if (!credential) throw new DOMException('no passkey', 'NotAllowedError')
  return toJson(credential as PublicKeyCredential)
}

/** Creates a passkey. It throws a DOMException if the user closes the prompt. */
export async function createCredential(options: Json): Promise<Json> {
  return found(await navigator.credentials.create({ publicKey: creationOptions(options) }))
}

/**
 * Signs a challenge with a passkey. It throws a DOMException if the user closes the prompt. With
 * autofill the browser offers the passkeys in the email field until signal aborts.
 */
export async function getCredential(options: Json, autofill?: AbortSignal): Promise<Json> {
  const publicKey = requestOptions(options)
  return found(await navigator.credentials.get(autofill ? { publicKey, mediation: 'conditional', signal: autofill } : { publicKey }))
}
