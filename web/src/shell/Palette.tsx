import { Trans } from '@lingui/react/macro'
import { lazy, Suspense, useEffect, useState } from 'react'
import { textsOf } from '../app/locale'
import { Icon } from '../ui/Icon'

/** The dialog with its texts. */
const PaletteDialog = lazy(async () => (await Promise.all([import('../search/PaletteDialog'), textsOf('search')]))[0])

/** The search button in the top bar; ⌘K or Ctrl K opens it too. It loads the dialog on demand. */
export function PaletteButton() {
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
      <button type="button" className="search" aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K" onClick={() => setOpen(true)}>
        <Icon name="search" />
        <b className="sr"><Trans>Search</Trans></b>
        <span aria-hidden="true"><Trans>Search</Trans></span>
        <kbd aria-hidden="true">{key}</kbd>
      </button>
      {open && <Suspense><PaletteDialog onClose={() => setOpen(false)} /></Suspense>}
    </>
  )
}
