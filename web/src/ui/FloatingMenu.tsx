import { Menu as Mantine } from '@mantine/core'
import { cloneElement, useEffect, useRef, useState, type ReactElement, type ReactNode } from 'react'
import { Floating } from './Floating'
import { MenuParts, type Target } from './Menu'

const parts = { Item: Mantine.Item, Divider: Mantine.Divider, Label: Mantine.Label }

/** An open menu with its target. It takes the focus and returns it to the target. */
export default function FloatingMenu({ target, children }: { target: ReactElement<Target>; children: ReactNode }) {
  const [opened, setOpened] = useState(false)
  const button = useRef<HTMLElement>(null)
  useEffect(() => {
    button.current?.focus()
    setOpened(true)
  }, [])
  return (
    <Floating>
      <Mantine
        opened={opened} onChange={setOpened} position="bottom-end" offset={6} transitionProps={{ duration: 120 }} width={232} withInitialFocusPlaceholder={false}
        classNames={{ dropdown: 'menu', item: 'menu-item', itemSection: 'menu-icon', divider: 'menu-line', label: 'cap' }}
      >
        <Mantine.Target>{cloneElement(target, { ref: button })}</Mantine.Target>
        <Mantine.Dropdown><MenuParts value={parts}>{children}</MenuParts></Mantine.Dropdown>
      </Mantine>
    </Floating>
  )
}
