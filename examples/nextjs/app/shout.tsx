'use client'
import { startTransition, useActionState, type FormEvent } from 'react'
import { tenantry } from '../lib/browser'
import { shout } from './actions'

/** The product: each letter counts. */
export function Shout({ organization, used, limit }: { organization: string; used: number; limit: number | null }) {
  const [result, act, pending] = useActionState(shout, {})
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    form.set('key', crypto.randomUUID()) // the same text sent twice counts twice, one request that is repeated does not
    startTransition(() => act(form))
  }
  const logOut = () => tenantry.POST('/api/v1/auth/logout').then(() => location.assign('/'))
  return (
    <>
      <h1>{organization}</h1>
      <p id="used">{used} of {limit ?? 'any number of'} letters used</p>
      <form method="post" onSubmit={submit}>
        <label>Text <input name="text" maxLength={1000} required /></label>
        <button disabled={pending}>Shout</button>
      </form>
      <output>{result.loud}</output>
      <p role="alert">{result.refused}</p>
      <button onClick={logOut}>Log out</button>
    </>
  )
}
