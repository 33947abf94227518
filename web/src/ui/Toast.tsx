import { useSyncExternalStore, type ReactNode } from 'react'
import { useLingui } from '@lingui/react/macro'
import { Button } from './Button'

interface Message {
  id: number
  text: ReactNode
  action?: { label: ReactNode; run: () => void }
}

let messages: readonly Message[] = []
let next = 1
const readers = new Set<() => void>()

function set(to: readonly Message[]) {
  messages = to
  for (const read of readers) read()
}

function drop(id: number) {
  set(messages.filter((one) => one.id !== id))
}

/** Tells that something is done, for six seconds, with a way to take it back where there is one. */
export function toast(text: ReactNode, action?: Message['action']): void {
  const id = next++
  set([...messages.slice(-2), { id, text, action }])
  setTimeout(() => drop(id), 6000)
}

function subscribe(read: () => void) {
  readers.add(read)
  return () => void readers.delete(read)
}

/** Where the messages appear. */
export function Toasts() {
  const { t } = useLingui()
  const shown = useSyncExternalStore(subscribe, () => messages)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((one) => (
        <div key={one.id} className="toast">
          <span>{one.text}</span>
          {one.action && <Button size="s" look="quiet" onClick={() => { one.action!.run(); drop(one.id) }}>{one.action.label}</Button>}
          <Button size="s" look="quiet" icon="x" aria-label={t`Close`} onClick={() => drop(one.id)} />
        </div>
      ))}
    </div>
  )
}
