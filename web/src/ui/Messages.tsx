import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './Button'
import { Icon, type IconName } from './Icon'

/** A message with what happened, what it means and what to do. */
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

/** Why something failed, in the person's words, with another attempt where it may help. */
export function Problem({ error, onRetry, retrying }: { error: unknown; onRetry?: () => void; retrying?: boolean }) {
  const { t } = useLingui()
  const [title, text] = (() => {
    if (!(error instanceof ApiError)) return [t`Something went wrong here`, t`Load the page again. If it stays like this, tell us.`]
    if (error.status === 0) return [t`No connection`, t`We could not be reached. Try again in a moment; what you have written is kept.`]
    if (error.status === 429) return [t`Too many attempts`, error.retryAfter ? t`Wait ${error.retryAfter} seconds and try again.` : t`Wait a moment and try again.`]
    if (error.status >= 500) return [t`We cannot do this right now`, t`Nothing is lost. Try again in a moment.`]
    if (error.status === 404) return [t`This is not here any more`, t`It was removed, or the address is wrong.`]
    if (error.status === 403) return [t`You may not do this`, error.message]
    return [undefined, error.message]
  })()
  const actions = onRetry && <Button size="s" busy={retrying} onClick={onRetry}><Trans>Try again</Trans></Button>
  return <Note tone="bad" title={title} actions={actions}>{text}</Note>
}

/** What stands where a list is empty: a sentence, why one would want it, the action. */
export function Empty({ icon, title, children, actions, slim, level: Heading = 'h2' }: {
  icon: IconName; title: ReactNode; children?: ReactNode; actions?: ReactNode; slim?: boolean
  /** h1 where nothing else heads the page, h3 below a heading. */
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

/** Lines that stand where something is being read. They appear after 300 ms, by their style, or at once. */
export function Skeleton({ lines = 3, now }: { lines?: number; now?: boolean }) {
  const { t } = useLingui()
  return (
    <div className={now ? 'stack' : 'stack waiting'} role="status" aria-label={t`Loading`}>
      {Array.from({ length: lines }, (_, i) => <span key={i} className={`skel w${(i % 3) + 1}`} />)}
    </div>
  )
}
