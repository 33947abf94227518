import { useEffect, type ReactNode } from 'react'
import { useSettings } from '../app/session'

/** Names the page in the window's title. */
export function useTitle(title: string): void {
  const { app_name } = useSettings()
  useEffect(() => {
    document.title = `${title} · ${app_name}`
  }, [title, app_name])
}

/** A page: its title, a sentence, and the one main action. */
export function Page({ title, heading, lead, actions, wide, children }: {
  /** What the window's title says. */
  title: string
  /** The heading where it is more than the title; null for pages that have one of their own. */
  heading?: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  wide?: boolean
  children: ReactNode
}) {
  useTitle(title)
  return (
    <main id="content" className={`page ${wide ? 'wide' : ''}`} tabIndex={-1}>
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

/** A part of a page with a heading and, at its end, a link or a remark. */
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
