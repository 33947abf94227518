import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'

/** A dialog: a question or a short form. It keeps the focus and gives it back. */
export function Dialog({ open, onClose, title, children, wide }: {
  open: boolean; onClose: () => void; title: ReactNode; children: ReactNode; wide?: boolean
}) {
  return (
    <Modal
      opened={open} onClose={onClose} title={title} centered lockScroll={false} withCloseButton={false}
      transitionProps={{ duration: 120 }} size={wide ? 640 : 440} radius={12}
      classNames={{ content: 'dialog', header: 'dialog-head', title: 'dialog-title', body: 'dialog-body', inner: 'dialog-inner', overlay: 'dialog-overlay' }}
    >
      {children}
    </Modal>
  )
}
