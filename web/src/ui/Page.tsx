import { useEffect, type ReactNode } from 'react'
import { useSettings } from '../app/session'

/** Sets the window's title. */
export function useTitle(title: string): void {
  const { app_name } = useSettings()
  useEffect(() => {
    document.title = `${title} · ${app_name}`
  }, [title, app_name])
}

/** A page: its title, a sentence, and the main action. */
export function Page({ title, heading, lead, actions, wide, children }: {
  /** The window's title. */
  title: string
  /** The heading if it differs from the title; null if the page has its own. */
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
