import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './Button'
import { Icon } from './Icon'

interface Action {
  label: ReactNode
  /** Undoes the action. An error is shown. */
  run: () => unknown
}

interface Message {
  id: number
  text: ReactNode
  action?: Action
  bad?: boolean
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

function show(message: Omit<Message, 'id'>) {
  set([...messages.slice(-2), { ...message, id: next++ }])
}

/** Reports a completed action: for six seconds, or for ten with an undo button. */
export function toast(text: ReactNode, action?: Action): void {
  show({ text, action })
}

function subscribe(read: () => void) {
  readers.add(read)
  return () => void readers.delete(read)
}

/** Returns the newest message with an undo button. */
const newest = () => messages.findLast((one) => one.action)

async function take(message: Message) {
  drop(message.id)
  try {
    await message.action!.run()
  } catch (error) {
    const why = error instanceof ApiError && error.status !== 0 ? error.message : undefined
    show({ bad: true, text: why ? <Trans>Nothing was changed. {why}</Trans> : <Trans>Nothing was changed. Try again in a moment.</Trans> })
  }
}

const writes = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]'

/** Undoes the newest action with the usual keys. In a text field, the keys undo typing instead. */
function onKey(event: KeyboardEvent) {
  if (event.key.toLowerCase() !== 'z' || event.shiftKey || event.altKey || !(event.ctrlKey || event.metaKey)) return
  const message = newest()
  if (!message || (event.target instanceof Element && event.target.matches(writes))) return
  event.preventDefault()
  void take(message)
}

/** A message. Its time is paused on hover and focus. */
function Shown({ message }: { message: Message }) {
  const { t } = useLingui()
  const [held, setHeld] = useState(false)
  const { id, action, bad } = message
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => drop(id), action || bad ? 10_000 : 6000)
    return () => clearTimeout(timer)
  }, [held, id, action, bad])
  return (
    <div
      className={`toast ${bad ? 'bad' : ''}`} role={bad ? 'alert' : undefined}
      onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)} onFocus={() => setHeld(true)} onBlur={() => setHeld(false)}
    >
      {bad && <Icon name="alert" />}
      <span>{message.text}</span>
      {action && <Button size="s" aria-keyshortcuts="Control+Z Meta+Z" onClick={() => void take(message)}>{action.label}</Button>}
      <Button size="s" look="quiet" icon="x" aria-label={t`Close`} onClick={() => drop(id)} />
    </div>
  )
}

/** The area of messages, below longer-lived ones. */
export function Toasts({ children }: { children?: ReactNode }) {
  const { t } = useLingui()
  const shown = useSyncExternalStore(subscribe, () => messages)
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <section className="toasts" aria-label={t`Messages`} role="status" aria-live="polite">
      {children}
      {shown.map((one) => <Shown key={one.id} message={one} />)}
    </section>
  )
}
