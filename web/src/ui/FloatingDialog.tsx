import { Modal } from '@mantine/core'
import type { DialogProps } from './Dialog'
import { Floating } from './Floating'

/** The window of a dialog. */
export default function FloatingDialog({ open, onClose, title, children, wide }: DialogProps) {
  return (
    <Floating>
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
    </Floating>
  )
}
