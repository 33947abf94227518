'use client'
import { useState, type FormEvent } from 'react'
import { inWords, tenantry } from '../../../lib/browser'

/** Where the payment leads back to: asks for what an invoice needs. */
export default function Success() {
  const [problem, setProblem] = useState('')
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const body = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    tenantry.PATCH('/api/v1/onboarding/complete-setup', { body }).then(() => location.assign('/'), (error: unknown) => setProblem(inWords(error)))
  }
  return (
    <form method="post" onSubmit={save}>
      <h1>Almost done</h1>
      <p role="alert">{problem}</p>
      <label>Company <input name="legal_name" required /></label>
      <label>Address <input name="address" required /></label>
      <label>Postal code <input name="postal_code" required /></label>
      <label>City <input name="city" required /></label>
      <label>Country, such as AT <input name="country" minLength={2} maxLength={2} required /></label>
      <button>Finish</button>
    </form>
  )
}
