import type { ReactNode } from 'react'

/** Removes case and accents, as the service does to compare words. */
export const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** Returns the number of characters of a word whose folded form begins with a folded text. */
function lengthOf(word: string, text: string): number {
  const letters = [...word]
  for (let i = 1; i <= letters.length; i++) {
    const start = letters.slice(0, i).join('')
    if (folded(start).startsWith(text)) return start.length
  }
  return 0
}

/** A text in which the beginnings of words that match the query are marked. */
export function Marked({ text, query }: { text: string; query: string }) {
  const sought = folded(query).match(/[\p{L}\p{N}]+/gu) ?? []
  const parts: ReactNode[] = []
  let at = 0
  for (const found of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const length = Math.max(0, ...sought.map((one) => lengthOf(found[0], one)))
    if (length === 0) continue
    parts.push(text.slice(at, found.index), <mark key={found.index}>{found[0].slice(0, length)}</mark>)
    at = found.index + length
  }
  return <>{parts}{text.slice(at)}</>
}
