import type { ReactNode } from 'react'

/** A part of the page: what it is about at the left, its pieces at the right. */
export function Part({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return <section><h2>{title}<small>{lead}</small></h2><div className="stack">{children}</div></section>
}

/** One piece with the name of its state below. */
export function Shown({ as, children }: { as: ReactNode; children: ReactNode }) {
  return <figure>{children}<figcaption>{as}</figcaption></figure>
}
