import { useEffect, useRef, useState } from 'react'
import { useFilters } from '../app/filters'
import { Icon } from './Icon'

/** Filters a list by a text, which is stored in the URL shortly after the user stops typing. */
export function SearchField({ name = 'search', label }: { name?: string; label: string }) {
  const [search, change] = useFilters()
  const wanted = search[name] ?? ''
  const [text, setText] = useState(wanted)
  const sent = useRef<string[]>([]) // the texts that the field has put into the URL, until the last one is there
  // The user went back or opened a link: use the text in the URL. While the user types, the URL has
  // an earlier text of the field.
  useEffect(() => {
    if (!sent.current.includes(wanted)) setText(wanted)
    else if (wanted !== sent.current.at(-1)) return
    sent.current = []
  }, [wanted])
  useEffect(() => {
    if (text.trim() === wanted) return
    const timer = setTimeout(() => {
      sent.current.push(text.trim())
      change({ [name]: text.trim() || undefined }, { replace: true })
    }, 250)
    return () => clearTimeout(timer)
  })
  return (
    <div className="affix search-field">
      <span><Icon name="search" /></span>
      <input className="input dense" type="search" aria-label={label} placeholder={label} value={text} onChange={(event) => setText(event.target.value)} />
    </div>
  )
}
