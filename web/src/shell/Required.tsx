import { useQueryClient } from '@tanstack/react-query'
import { Outlet, useRouter, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { whenRequired, type Requirement } from '../api/queries'
import { Pending } from '../app/Failure'
import { textsOf } from '../app/locale'
import { meQuery } from '../app/session'

const Enrollment = lazy(async () => (await Promise.all([import('../pages/out/Enrollment'), textsOf('out')]))[0])
const SsoRequired = lazy(async () => (await Promise.all([import('../pages/out/SsoRequired'), textsOf('out')]))[0])

/**
 * Shows the pages, or instead of them the step that the service requires first: a second factor, or
 * a login with SSO. Every other page would show errors.
 */
export function Required() {
  const router = useRouter()
  const queries = useQueryClient()
  const [required, setRequired] = useState<Requirement>()
  const signingIn = useRouterState({ select: (state) => state.location.pathname.endsWith('/sign-in') })
  useEffect(() => whenRequired(setRequired), [])
  useEffect(() => { if (signingIn) setRequired(undefined) }, [signingIn])
  if (!required || signingIn || !queries.getQueryData(meQuery.queryKey)) return <Outlet />

  async function goOn() {
    await queries.invalidateQueries({ queryKey: meQuery.queryKey })
    queries.removeQueries({ predicate: (query) => query.state.status === 'error' })
    await router.invalidate()
    setRequired(undefined)
  }
  return <Suspense fallback={<Pending />}>{required === 'factor' ? <Enrollment onDone={() => void goOn()} /> : <SsoRequired />}</Suspense>
}
