import { lazy, Suspense } from 'react'

const Bar = lazy(() => import('./SandboxBar'))

/** The sandbox bar, if the page has the service's marker for a sandbox. */
export function Sandbox() {
  if (!document.querySelector('meta[name=sandbox]')) return null
  return <Suspense><Bar /></Suspense>
}
