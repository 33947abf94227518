import { lazy, Suspense } from 'react'

const Bar = lazy(() => import('./SandboxBar'))

/** The bar of the sandbox, where the service runs with one: it says so in the page. */
export function Sandbox() {
  if (!document.querySelector('meta[name=sandbox]')) return null
  return <Suspense><Bar /></Suspense>
}
