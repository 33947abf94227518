import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { createCredential, getCredential } from './webauthn'

type Signed = { challenge_id: string; credential: Record<string, unknown> }

/** The fields of a request that confirm it. */
export interface Confirmation {
  current_password?: string
  code?: string
  assertion?: Signed
}

/** The user's password, factors and recovery codes. */
export const factorsQuery = queryOptions({
  queryKey: ['factors'],
  queryFn: async () => (await api.GET('/api/v1/user/factors')).data!.data,
})

/** Starts the enrollment of an authenticator app. */
export async function enrollTotp(confirmation: Confirmation): Promise<Schema<'TOTPEnrollment'>> {
  return (await api.POST('/api/v1/user/factors/totp', { body: { ...confirmation } })).data!.data
}

/** Asks the browser for a passkey. Save it with savePasskey within five minutes. */
export async function createPasskey(confirmation: Confirmation): Promise<Signed> {
  const { challenge_id, options } = (await api.POST('/api/v1/user/passkeys/options', { body: { ...confirmation } })).data!.data
  return { challenge_id, credential: await createCredential(options) }
}

/** Saves a new passkey. The response has recovery codes if the user had none. */
export async function savePasskey(created: Signed, name: string): Promise<Schema<'PasskeyAdded'>> {
  return (await api.POST('/api/v1/user/passkeys', { body: { ...created, name } })).data!
}

/** Asks the browser to confirm a request with one of the user's passkeys. */
export async function signConfirmation(): Promise<Signed> {
  const { challenge_id, options } = (await api.POST('/api/v1/user/passkeys/assertion-options')).data!.data
  return { challenge_id, credential: await getCredential(options) }
}
