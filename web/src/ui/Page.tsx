import { useEffect, type ReactNode } from 'react'
import { useSettings } from '../app/session'
import { Icon } from './Icon'

/** Sets the window's title. */
export function useTitle(title: string): void {
  const { app_name } = useSettings()
  useEffect(() => {
    document.title = `${title} · ${app_name}`
  }, [title, app_name])
}

/** A page: its title, a sentence, and the main action. */
export function Page({ title, heading, lead, actions, wide, flush, children }: {
  /** The window's title. */
  title: string
  /** The heading if it differs from the title; null if the page has its own. */
  heading?: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  wide?: boolean
  /** The content reaches the edges of the page. */
  flush?: boolean
  children: ReactNode
}) {
  useTitle(title)
  return (
    <main id="content" className={`page ${wide ? 'wide' : ''} ${flush ? 'flush' : ''}`} tabIndex={-1}>
      {heading !== null && (
        <div className="page-head">
          <div>
            <h1>{heading ?? title}</h1>
            {lead && <p>{lead}</p>}
          </div>
          {actions && <div className="acts">{actions}</div>}
        </div>
      )}
      {children}
    </main>
  )
}

/** A section of a page with a heading and, at its end, a link or a remark. */
export function Section({ title, end, lead, children, className = 'sec', id }: {
  title: ReactNode; end?: ReactNode; lead?: ReactNode; children: ReactNode; className?: string; id?: string
}) {
  return (
    <section className={className} id={id}>
      <div className="sec-head">
        <h2>{title}</h2>
        {end && <span className="end">{end}</span>}
        {lead && <p>{lead}</p>}
      </div>
      {children}
    </section>
  )
}

/** A section of settings: its purpose on the left, its controls on the right. off disables them. */
export function Setting({ title, lead, id, off, children }: {
  title: ReactNode; lead?: ReactNode; id?: string; off?: boolean; children: ReactNode
}) {
  return (
    <section className="setting" id={id}>
      <header>
        <h2>{title}</h2>
        {lead && <p>{lead}</p>}
      </header>
      <fieldset className="stack" disabled={off}>{children}</fieldset>
    </section>
  )
}

/** Why a section has no controls. */
export function Locked({ children }: { children: ReactNode }) {
  return <p className="lockline"><Icon name="lock" /><span>{children}</span></p>
}
