import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'

/** A dialog: a question or a short form. It keeps the focus and gives it back. */
export function Dialog({ open, onClose, title, children, wide }: {
  open: boolean; onClose: () => void; title: ReactNode; children: ReactNode; wide?: boolean
}) {
  return (
    <Modal.Root
      opened={open} onClose={onClose} centered lockScroll={false}
      transitionProps={{ duration: 120 }} size={wide ? 640 : 440} radius={12}
      classNames={{ content: 'dialog', title: 'dialog-title', body: 'dialog-body', inner: 'dialog-inner', overlay: 'dialog-overlay' }}
    >
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title>{title}</Modal.Title>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}
