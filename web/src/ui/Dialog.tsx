import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react'
import { loadDialog } from './later'

const FloatingDialog = lazy(loadDialog)

/**
 * Returns the focused element, or the button of the menu that contains it, because the menu entry
 * is gone when the dialog closes.
 */
function opener(): HTMLElement | null {
  const focused = document.activeElement
  const menu = focused?.closest('[role=menu]')
  const found = menu ? document.querySelector(`[aria-controls="${CSS.escape(menu.id)}"]`) : focused
  return found instanceof HTMLElement ? found : null
}

/** Returns the focus to its place before the dialog, or to the page if that element is gone. */
function useFocusBack(open: boolean) {
  const [was, setWas] = useState(false)
  const [from, setFrom] = useState<HTMLElement | null>(null)
  const shown = useRef(false)
  if (open !== was) {
    setWas(open)
    if (open) setFrom(opener())
  }
  useEffect(() => {
    if (!open) return
    shown.current = true
    return () => {
      shown.current = false
      setTimeout(() => {
        const focused = document.activeElement
        if (shown.current || (focused && focused !== document.body && !focused.closest('.dialog'))) return
        const to = from?.isConnected && from !== document.body ? from : document.getElementById('content')
        to?.focus({ preventScroll: true })
      }, 20)
    }
  }, [open, from])
}

export interface DialogProps {
  open: boolean
  onClose: () => void
  title: ReactNode
  children: ReactNode
  /** xl: two columns that reach the edges. The content includes the title. */
  wide?: boolean | 'xl'
}

/** A dialog for a question or a short form. It traps the focus and returns it. */
export function Dialog(props: DialogProps) {
  const [isUsed, setIsUsed] = useState(false)
  if (props.open && !isUsed) setIsUsed(true)
  useFocusBack(props.open)
  return isUsed ? <Suspense><FloatingDialog {...props} /></Suspense> : null
}
