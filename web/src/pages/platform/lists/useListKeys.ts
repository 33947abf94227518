import { useEffect } from 'react'
import { useListed, type PageKey } from '../../../ui/keys'

const writes = 'input, textarea, select, [contenteditable]'

const rowsIn = (page: Element) => [...page.querySelectorAll<HTMLElement>('tbody .rowlink')]

const searchIn = (page: Element) => page.querySelector<HTMLInputElement>('.toolbar input[type=search]')

const menuIn = (row: Element) => row.querySelector<HTMLElement>('.acts-cell [aria-haspopup=menu]')

/** Returns the keys that work with the list as it is shown. */
function keysNow(): PageKey[] {
  const page = document.getElementById('content')
  if (!page) return []
  const rows = rowsIn(page)
  const keys: [PageKey, boolean][] = [['search', !!searchIn(page)], ['rows', rows.length > 0], ['menu', rows.some((link) => !!menuIn(link.closest('tr')!))]]
  return keys.flatMap(([key, works]) => (works ? [key] : []))
}

/** Focuses the row that is a number of steps after the focused one. */
function step(page: Element, by: number): void {
  const links = rowsIn(page)
  const at = links.findIndex((one) => one.closest('tr') === document.activeElement?.closest('tr'))
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus()
}

/**
 * The keys of a list: / focuses the search field, J and K move between the rows, and the full stop
 * opens the menu of a row. Enter follows the focused link, as everywhere.
 */
export function useListKeys(): void {
  useListed(keysNow)
  useEffect(() => {
    // The steps of the keys that were pressed before the rows were loaded.
    let ahead = 0
    const rows = new MutationObserver(() => {
      const page = document.getElementById('content')
      if (!page || rowsIn(page).length === 0) return
      rows.disconnect()
      step(page, ahead)
      ahead = 0
    })
    function onKey(event: KeyboardEvent) {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (!(event.target instanceof Element) || event.target.matches(writes) || document.querySelector('[role=dialog]')) return
      const page = document.getElementById('content')
      if (!page) return
      if (event.key === '/') {
        const field = searchIn(page)
        if (!field) return
        event.preventDefault()
        return field.focus()
      }
      const by = { j: 1, k: -1 }[event.key]
      if (by !== undefined && rowsIn(page).length > 0) step(page, by)
      else if (by !== undefined && page.querySelector('.skel')) {
        ahead += by
        rows.observe(page, { childList: true, subtree: true })
      }
      const row = event.key === '.' && document.activeElement?.closest('tr')
      if (row && row.querySelector('.rowlink')) {
        event.preventDefault()
        menuIn(row)?.click()
      }
    }
    window.addEventListener('keydown', onKey)
    return () => {
      rows.disconnect()
      window.removeEventListener('keydown', onKey)
    }
  }, [])
}
