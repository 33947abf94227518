import { Link, type LinkProps } from '@tanstack/react-router'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Icon, type IconName } from './Icon'

interface Look {
  /**
   * primary: the main action of a page. quiet: in rows and next to others. danger: irreversible
   * actions.
   */
  look?: 'primary' | 'plain' | 'quiet' | 'danger' | 'danger solid'
  size?: 's' | 'm' | 'big'
  block?: boolean
  icon?: IconName
  children?: ReactNode
}

function classes({ look = 'plain', size = 'm', block, icon, children }: Look, extra = ''): string {
  return [
    'btn',
    look !== 'plain' && look,
    size !== 'm' && size,
    block && 'block',
    icon && !children && 'icon',
    extra,
  ].filter(Boolean).join(' ')
}

/** A button. While busy it shows progress, keeps its size and ignores clicks. */
export function Button(
  { look, size, block, icon, busy, children, className, ...rest }:
    Look & { busy?: boolean } & ButtonHTMLAttributes<HTMLButtonElement>,
) {
  return (
    <button
      type="button"
      {...rest}
      className={classes({ look, size, block, icon, children }, `${className ?? ''} ${busy ? 'is-busy' : ''}`.trim())}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : rest.onClick}
    >
      {busy ? <span className="spin" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A link within the console that looks like a button. */
export function ButtonLink({ look, size, block, icon, children, ...rest }: Look & Omit<LinkProps, 'children'>) {
  return (
    <Link {...rest} className={classes({ look, size, block, icon, children })}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}

/** A link to another site or a file that looks like a button. */
export function ButtonAnchor(
  { look, size, block, icon, children, className, ...rest }: Look & React.AnchorHTMLAttributes<HTMLAnchorElement>,
) {
  return (
    <a {...rest} className={classes({ look, size, block, icon, children }, className)}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}
