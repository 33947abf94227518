import { useEffect, useLayoutEffect, useRef } from 'react'

const writes = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]'

/** The milliseconds that the second key of a sequence may take. */
const patience = 1200

/**
 * Calls a function for a key or a sequence of two: `j`, `g h`. Keys in fields, with a modifier, or
 * while a dialog or a menu is open are left alone.
 */
export function useKeys(keys: Record<string, () => void>): void {
  const first = useRef({ key: '', at: 0 })
  const current = useRef(keys)
  // Before the browser handles the next key, so that none meets the functions of an earlier render.
  useLayoutEffect(() => { current.current = keys })
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (event.target instanceof Element && event.target.matches(writes)) return
      if (document.querySelector('[role=dialog], [role=menu]')) return
      const key = event.key.toLowerCase()
      const both = event.timeStamp - first.current.at < patience ? `${first.current.key} ${key}` : key
      const run = current.current[both] ?? current.current[key]
      first.current = { key, at: event.timeStamp }
      if (!run) return
      event.preventDefault()
      first.current = { key: '', at: 0 }
      run()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

/** A key of a page: / for its search, J and K for the rows, the full stop for a row's menu, R to resend. */
export type PageKey = 'search' | 'rows' | 'menu' | 'resend'

const finders = new Set<() => PageKey[]>()

/** Adds keys to the list of shortcuts. find is called when the user opens the list. */
export function useListed(find: () => PageKey[]): void {
  const current = useRef(find)
  useLayoutEffect(() => { current.current = find })
  useEffect(() => {
    const finder = () => current.current()
    finders.add(finder)
    return () => { finders.delete(finder) }
  }, [])
}

/** Returns the keys that work on the page now. */
export const pageKeys = (): PageKey[] => [...finders].flatMap((find) => find())
