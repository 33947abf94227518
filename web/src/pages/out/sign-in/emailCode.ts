import { api } from '../../../api/client'

export interface EmailCodeRequest {
  request_id: string
  expires_at: string
}

type Post = (path: string, init: { body: Record<string, unknown> }) => Promise<{ data?: { data: EmailCodeRequest } }>

const post = api.POST as unknown as Post

/** Mails a code to an address, if it has an account. */
export async function requestEmailCode(email: string): Promise<EmailCodeRequest> {
  return (await post('/api/v1/auth/email-code', { body: { email } })).data!.data
}

export async function logInWithEmailCode(request: EmailCodeRequest, code: string): Promise<void> {
  await post('/api/v1/auth/email-code/login', { body: { request_id: request.request_id, code } })
}
