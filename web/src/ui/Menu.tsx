import type { Menu as Mantine } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useLingui } from '@lingui/react/macro'
import { cloneElement, createContext, lazy, Suspense, use, useState, type ReactElement, type ReactNode, type Ref } from 'react'
import { Button } from './Button'
import { Icon, type IconName } from './Icon'
import { loadMenu } from './later'

/** The properties that a menu sets on its target. */
export interface Target {
  ref?: Ref<HTMLElement>
  'aria-haspopup'?: 'menu'
  'aria-expanded'?: boolean
  onClick?: () => void
  onPointerEnter?: () => void
}

const FloatingMenu = lazy(loadMenu)

/** The parts of an open menu. */
export const MenuParts = createContext<Pick<typeof Mantine, 'Item' | 'Divider' | 'Label'> | null>(null)

function useParts() {
  const parts = use(MenuParts)
  if (!parts) throw new Error('not in a menu')
  return parts
}

/**
 * A menu below its target. Its entries are MenuEntry, MenuLine and MenuLabel. The first click loads
 * it, if it is not loaded yet.
 */
export function Menu({ target, children }: { target: ReactElement<Target>; children: ReactNode }) {
  const [isUsed, setIsUsed] = useState(false)
  const closed = cloneElement(target, {
    'aria-haspopup': 'menu', 'aria-expanded': false, onClick: () => setIsUsed(true), onPointerEnter: () => void loadMenu().catch(() => {}),
  })
  if (!isUsed) return closed
  return <Suspense fallback={closed}><FloatingMenu target={target}>{children}</FloatingMenu></Suspense>
}

/** A menu entry: a page of the console (to), another URL (href), or an action. */
export function MenuEntry({ icon, danger, children, onClick, href, download, to, disabled }: {
  icon?: IconName; danger?: boolean; children: ReactNode; onClick?: () => void; href?: string; download?: string; to?: LinkProps['to']; disabled?: boolean
}) {
  const { Item } = useParts()
  const shared = { leftSection: icon && <Icon name={icon} />, className: danger ? 'danger' : undefined, disabled, onClick }
  if (href) return <Item component="a" href={href} download={download} {...shared}>{children}</Item>
  if (to) return <Item renderRoot={(props) => <Link to={to} {...props} />} {...shared}>{children}</Item>
  return <Item {...shared}>{children}</Item>
}

export function MenuLine() {
  const { Divider } = useParts()
  return <Divider />
}

export function MenuLabel({ children }: { children: ReactNode }) {
  const { Label } = useParts()
  return <Label>{children}</Label>
}

/** A menu with further actions, behind three dots. */
export function More({ children, small, label }: { children: ReactNode; small?: boolean; label?: string }) {
  const { t } = useLingui()
  return <Menu target={<Button icon="dots" look={small ? 'quiet' : 'plain'} size={small ? 's' : 'm'} aria-label={label ?? t`More`} />}>{children}</Menu>
}
