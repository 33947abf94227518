'use client'
import { useState, type FormEvent } from 'react'
import { inWords, tenantry } from '../lib/browser'

/** Signs up with a plan, which leads to the payment unless the plan is the default plan, or logs in. */
export function Enter({ plans }: { plans: { slug: string; label: string }[] }) {
  const [problem, setProblem] = useState('')
  const submit = (act: (field: (name: string) => string) => Promise<string>) => (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    act((name) => String(form.get(name))).then((to) => location.assign(to), (error: unknown) => setProblem(inWords(error)))
  }
  const signUp = submit(async (field) => {
    const [name, email, password] = [field('name'), field('email'), field('password')]
    const body = { name, email, password, password_confirmation: password, plan_slug: field('plan'), currency: 'EUR' }
    return (await tenantry.POST('/api/v1/onboarding/start', { body })).checkout_url ?? '/' // the default plan needs no payment
  })
  const logIn = submit(async (field) => {
    await tenantry.POST('/api/v1/auth/login', { body: { email: field('email'), password: field('password'), remember: true } })
    return '/'
  })
  return (
    <>
      <h1>Make text loud</h1>
      <p role="alert">{problem}</p>
      <form id="sign-up" method="post" onSubmit={signUp}>
        <h2>Sign up</h2>
        <label>Name <input name="name" autoComplete="name" required /></label>
        <label>Email <input name="email" type="email" autoComplete="email" required /></label>
        <label>Password <input name="password" type="password" autoComplete="new-password" minLength={8} required /></label>
        <label>Plan <select name="plan">{plans.map(({ slug, label }) => <option key={slug} value={slug}>{label}</option>)}</select></label>
        <button>Sign up</button>
      </form>
      <form id="log-in" method="post" onSubmit={logIn}>
        <h2>Log in</h2>
        <label>Email <input name="email" type="email" autoComplete="email" required /></label>
        <label>Password <input name="password" type="password" autoComplete="current-password" required /></label>
        <button>Log in</button>
      </form>
    </>
  )
}
