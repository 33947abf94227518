import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './Button'
import { Icon, type IconName } from './Icon'

/** A message: what happened, what it means and what to do. */
export function Note({ tone, icon, title, children, actions, role }: {
  tone?: 'warn' | 'bad'; icon?: IconName; title?: ReactNode; children?: ReactNode; actions?: ReactNode; role?: 'alert' | 'status'
}) {
  return (
    <div className={`note ${tone ?? ''}`} role={role ?? (tone === 'bad' ? 'alert' : undefined)}>
      <Icon name={icon ?? (tone ? 'alert' : 'info')} />
      <p>{title && <b>{title}</b>}{children}</p>
      {actions && <div className="acts">{actions}</div>}
    </div>
  )
}

/** The reason for an error in plain words, with a retry button if a retry can help. */
export function Problem({ error, onRetry, retrying }: { error: unknown; onRetry?: () => void; retrying?: boolean }) {
  const { t } = useLingui()
  const [title, text] = (() => {
    if (!(error instanceof ApiError)) return [t`Something went wrong`, t`Reload the page. If the problem persists, contact support.`]
    if (error.status === 0) return [t`No connection`, t`We could not reach the service. Try again in a moment. Your changes are kept.`]
    if (error.status === 429) return [t`Too many attempts`, error.retryAfter ? t`Wait ${error.retryAfter} seconds and try again.` : t`Wait a moment and try again.`]
    if (error.status >= 500) return [t`We cannot do this right now`, t`Nothing was lost. Try again in a moment.`]
    if (error.status === 404) return [t`This no longer exists`, t`It was deleted, or the address is wrong.`]
    if (error.status === 403) return [t`You do not have permission to do this`, error.message]
    return [undefined, error.message]
  })()
  const actions = onRetry && <Button size="s" busy={retrying} onClick={onRetry}><Trans>Try again</Trans></Button>
  return <Note tone="bad" title={title} actions={actions}>{text}</Note>
}

/** Shown for an empty list: a sentence, the purpose, and the action. */
export function Empty({ icon, title, children, actions, slim, level: Heading = 'h2' }: {
  icon: IconName; title: ReactNode; children?: ReactNode; actions?: ReactNode; slim?: boolean
  /** h1 if the page has no other heading, h3 below a heading. */
  level?: 'h1' | 'h2' | 'h3'
}) {
  return (
    <div className={`empty ${slim ? 'slim' : ''}`}>
      <Icon name={icon} />
      <Heading>{title}</Heading>
      {children && <p>{children}</p>}
      {actions && <div className="acts">{actions}</div>}
    </div>
  )
}

/** Placeholder lines while content loads. They appear after 300 ms, or immediately with now. */
export function Skeleton({ lines = 3, now }: { lines?: number; now?: boolean }) {
  const { t } = useLingui()
  return (
    <div className={now ? 'stack' : 'stack waiting'} role="status" aria-label={t`Loading`}>
      {Array.from({ length: lines }, (_, i) => <span key={i} className={`skel w${(i % 3) + 1}`} />)}
    </div>
  )
}
