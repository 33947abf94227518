import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Icon } from '../ui/Icon'

const PaletteDialog = lazy(() => import('./PaletteDialog'))

/** The search in the bar above, opened by a click, ⌘K or Ctrl K. What it needs is loaded then. */
export function PaletteButton() {
  const { t } = useLingui()
  const [open, setOpen] = useState(false)
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  const key = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K'
  return (
    <>
      <button type="button" className="search" aria-label={t`Search, ${key}`} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="search" />
        <span><Trans>Search</Trans></span>
        <kbd>{key}</kbd>
      </button>
      {open && <Suspense><PaletteDialog onClose={() => setOpen(false)} /></Suspense>}
    </>
  )
}
