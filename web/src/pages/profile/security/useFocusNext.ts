import { useEffect, useRef } from 'react'

/** Moves the focus after a row is removed: to the next row, else to the button below the rows. */
export function useFocusNext(ids: string[]) {
  const root = useRef<HTMLDivElement>(null)
  const before = useRef(ids)
  const all = ids.join(' ')
  useEffect(() => {
    const now = all.split(' ')
    const gone = before.current.findIndex((id) => !now.includes(id))
    before.current = now
    if (gone < 0) return
    // Dialogs return the focus first.
    const timer = setTimeout(() => {
      const row = root.current?.querySelectorAll('.items > li, tbody > tr')[gone]
      const to = row?.querySelector<HTMLElement>('button') ?? root.current?.querySelector<HTMLElement>('.setting-foot button')
      to?.focus()
    }, 60)
    return () => clearTimeout(timer)
  }, [all])
  return root
}
