import { lazy, Suspense } from 'react'

const Bar = lazy(() => import('./SandboxBar'))

/** The page has the service's marker for a sandbox. */
const isSandbox = document.querySelector('meta[name=sandbox]') !== null

/** Reports whether the bar was open when it was last shown. */
export function wasOpen(): boolean {
  try {
    return localStorage.getItem('sandbox') === 'open'
  } catch {
    return false
  }
}

// Reserve the bar's place before the first paint, so that the page does not move when it loads.
if (isSandbox) document.documentElement.classList.add('with-sandbox', ...(wasOpen() ? ['has-sandbox'] : []))

/** The sandbox bar, if there is a sandbox. */
export function Sandbox() {
  return isSandbox && <Suspense><Bar /></Suspense>
}
