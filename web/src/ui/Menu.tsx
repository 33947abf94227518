import { Menu as Mantine } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Button } from './Button'
import { Icon, type IconName } from './Icon'

/** A menu below its target. Its entries are MenuEntry, MenuLine and MenuLabel. */
export function Menu({ target, children }: { target: ReactNode; children: ReactNode }) {
  return (
    <Mantine
      position="bottom-end" offset={6} transitionProps={{ duration: 120 }} width={232}
      classNames={{ dropdown: 'menu', item: 'menu-item', itemSection: 'menu-icon', divider: 'menu-line', label: 'cap' }}
    >
      <Mantine.Target>{target}</Mantine.Target>
      <Mantine.Dropdown>{children}</Mantine.Dropdown>
    </Mantine>
  )
}

/** A menu entry: a page of the console (to), another URL (href), or an action. */
export function MenuEntry({ icon, danger, children, onClick, href, download, to, disabled }: {
  icon?: IconName; danger?: boolean; children: ReactNode; onClick?: () => void; href?: string; download?: string; to?: LinkProps['to']; disabled?: boolean
}) {
  const shared = { leftSection: icon && <Icon name={icon} />, className: danger ? 'danger' : undefined, disabled, onClick }
  if (href) return <Mantine.Item component="a" href={href} download={download} {...shared}>{children}</Mantine.Item>
  if (to) return <Mantine.Item renderRoot={(props) => <Link to={to} {...props} />} {...shared}>{children}</Mantine.Item>
  return <Mantine.Item {...shared}>{children}</Mantine.Item>
}

export const MenuLine = Mantine.Divider
export const MenuLabel = Mantine.Label

/** A menu with further actions, behind three dots. */
export function More({ children, small, label }: { children: ReactNode; small?: boolean; label?: string }) {
  const { t } = useLingui()
  return <Menu target={<Button icon="dots" look={small ? 'quiet' : 'plain'} size={small ? 's' : 'm'} aria-label={label ?? t`More`} />}>{children}</Menu>
}
