import { Modal } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode } from 'react'

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

/** A dialog for a question or a short form. It traps the focus and returns it. */
export function Dialog({ open, onClose, title, children, wide }: {
  open: boolean; onClose: () => void; title: ReactNode; children: ReactNode
  /** xl: two columns that reach the edges. The content includes the title. */
  wide?: boolean | 'xl'
}) {
  useFocusBack(open)
  return (
    <Modal.Root
      opened={open} onClose={onClose} centered lockScroll={false} returnFocus={false}
      transitionProps={{ duration: 120 }} size={wide === 'xl' ? 928 : wide ? 640 : 440} radius={12}
      classNames={{ content: wide === 'xl' ? 'dialog xl' : 'dialog', title: 'dialog-title', body: 'dialog-body', inner: 'dialog-inner', overlay: 'dialog-overlay' }}
    >
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title className={wide === 'xl' ? 'sr' : undefined}>{title}</Modal.Title>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
