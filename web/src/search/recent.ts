import type { Found } from './types'

/** An object that was opened from the search. */
export type Recent = Required<Pick<Found, 'key' | 'icon' | 'title' | 'url'>> & { subtitle?: string }

const most = 5

const name = (owner: string) => `recent.${owner}`

/** Returns the objects that were opened last from the search in this window. */
export function recentOf(owner: string): Recent[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(name(owner)) ?? '[]')
    return Array.isArray(found) ? found : []
  } catch {
    return [] // without storage nothing is remembered
  }
}

/** Remembers an object that was opened. */
export function remember(owner: string, { key, icon, title, url, subtitle }: Found): void {
  if (!url) return
  try {
    sessionStorage.setItem(name(owner), JSON.stringify([{ key, icon, title, url, subtitle }, ...recentOf(owner).filter((one) => one.key !== key)].slice(0, most)))
  } catch {
    // Without storage nothing is remembered.
  }
}
