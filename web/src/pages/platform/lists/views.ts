import { useSyncExternalStore } from 'react'
import { filtersIn, type Search } from './place'

/** A view of a list: filters under a name. */
export interface View {
  name: string
  search: Search
}

const changed = new Set<() => void>()

function read(list: string): string {
  try {
    return localStorage.getItem(`views.${list}`) ?? '[]'
  } catch {
    return '[]' // without storage there are no saved views
  }
}

function parsed(text: string): View[] {
  try {
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found.filter((one): one is View => typeof one?.name === 'string' && typeof one?.search === 'object' && one.search !== null) : []
  } catch {
    return []
  }
}

function subscribe(tell: () => void) {
  changed.add(tell)
  window.addEventListener('storage', tell)
  return () => {
    changed.delete(tell)
    window.removeEventListener('storage', tell)
  }
}

/** Returns the views that were saved in this browser, and functions that add and remove one. */
export function useSavedViews(list: string): { views: View[]; save: (name: string, search: Search) => void; remove: (name: string) => void } {
  const text = useSyncExternalStore(subscribe, () => read(list))
  const views = parsed(text)
  function write(to: View[]) {
    try {
      localStorage.setItem(`views.${list}`, JSON.stringify(to))
    } catch {
      // Without storage the view is lost.
    }
    for (const tell of changed) tell()
  }
  return {
    views,
    save: (name, search) => write([...views.filter((one) => one.name !== name), { name, search: filtersIn(search) }]),
    remove: (name) => write(views.filter((one) => one.name !== name)),
  }
}
