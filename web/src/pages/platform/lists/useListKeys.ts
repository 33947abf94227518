import { useEffect } from 'react'

const writes = 'input, textarea, select, [contenteditable]'

/**
 * The keys of a list: / focuses the search field, J and K move between the rows, and the full stop
 * opens the menu of a row. Enter follows the focused link, as everywhere.
 */
export function useListKeys(): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (!(event.target instanceof Element) || event.target.matches(writes) || document.querySelector('[role=dialog]')) return
      const page = document.getElementById('content')
      if (!page) return
      if (event.key === '/') {
        const field = page.querySelector<HTMLInputElement>('.toolbar input[type=search]')
        if (!field) return
        event.preventDefault()
        return field.focus()
      }
      const links = [...page.querySelectorAll<HTMLElement>('tbody .rowlink')]
      const at = links.findIndex((one) => one.closest('tr') === document.activeElement?.closest('tr'))
      const step = { j: 1, k: -1 }[event.key]
      if (step !== undefined) links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus()
      if (event.key === '.' && at !== -1) {
        event.preventDefault()
        links[at]!.closest('tr')?.querySelector<HTMLElement>('.acts-cell [aria-haspopup=menu]')?.click()
      }
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
