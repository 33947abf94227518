import type { ReactNode } from 'react'

/** A section of the page: a description on the left, its components on the right. */
export function Part({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return <section><h2>{title}<small>{lead}</small></h2><div className="stack">{children}</div></section>
}

/** A component with the name of its state below. */
export function Shown({ as, children }: { as: ReactNode; children: ReactNode }) {
  return <figure>{children}<figcaption>{as}</figcaption></figure>
}
