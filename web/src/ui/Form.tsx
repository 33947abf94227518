import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { ApiError } from '../api/client'
import { FieldErrors } from './Field'
import { Problem } from './Messages'

/** The values of a form by field name. Check boxes are booleans. */
export type Values = Record<string, string | boolean>

function valuesOf(form: HTMLFormElement): Values {
  const values: Values = {}
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement)) continue
    if (!field.name) continue
    if (field instanceof HTMLInputElement && field.type === 'checkbox') values[field.name] = field.checked
    else if (field instanceof HTMLInputElement && field.type === 'radio') {
      if (field.checked) values[field.name] = field.value
    } else values[field.name] = field.value
  }
  return values
}

/** Thrown by a form's onSubmit if the user cancels. It is not an error. */
export class Canceled extends Error {}

interface FormProps {
  /** Sends the values. An ApiError is shown at its fields or below the button. */
  onSubmit: (values: Values) => Promise<unknown>
  /** Asks before a page with unsaved changes is left. */
  guard?: boolean
  className?: string
  /** Receives whether the form is being sent and whether it has changes. */
  children: (state: { busy: boolean; changed: boolean }) => ReactNode
}

/**
 * A form whose fields keep their values after every error. Errors are shown at their fields, and
 * the first one gets the focus; other errors are shown below the button. If the session has
 * expired, another component asks to sign in, and the form can be sent again.
 */
export function Form({ onSubmit, guard = false, className, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [changed, setChanged] = useState(false)
  const pressed = useRef(false) // until React renders the busy state
  const sending = useMutation({ mutationFn: onSubmit, onSuccess: () => setChanged(false), onSettled: () => { pressed.current = false } })
  const refusal = sending.error instanceof ApiError ? sending.error : undefined
  const known = Object.entries(refusal?.fields ?? {}).filter(([name]) => form.current?.elements.namedItem(name))
  // Errors of fields that the form fills in itself, such as the confirmation of a password.
  const shown = new Set(known.map(([, messages]) => messages[0]))
  const elsewhere = Object.entries(refusal?.fields ?? {}).filter(([name, messages]) => !form.current?.elements.namedItem(name) && !shown.has(messages[0]))

  // Fields that a dialog shows after it has read data get the focus that the dialog has.
  useEffect(() => {
    if (document.activeElement?.matches('[role=dialog]')) form.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus()
  }, [])
  useEffect(() => {
    if (sending.status !== 'error') return
    const refused = form.current?.querySelector<HTMLElement>('[aria-invalid]')
    refused?.focus({ preventScroll: true })
    const place = refused?.closest('.field') ?? refused ?? form.current?.querySelector('.note[role=alert]')
    place?.scrollIntoView({ block: 'nearest' })
  }, [sending.status, sending.submittedAt])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    // Events of a form in a dialog bubble to this one.
    if (event.target !== event.currentTarget) return
    if (pressed.current) return
    pressed.current = true
    sending.mutate(valuesOf(event.currentTarget))
  }
  return (
    <FieldErrors value={refusal?.fields ?? {}}>
      <form ref={form} className={className} noValidate onSubmit={submit} onChange={(event) => { if (event.currentTarget.contains(event.target as Node)) setChanged(true) }}>
        {known.length > 0 && elsewhere.map(([name, messages]) => <p key={name} className="error">{messages[0]}</p>)}
        {children({ busy: sending.isPending, changed })}
        {sending.error && !(sending.error instanceof Canceled) && refusal?.status !== 401 && known.length === 0 && <Problem error={sending.error} />}
        {guard && changed && <Guard />}
      </form>
    </FieldErrors>
  )
}

/**
 * Asks before the page is left. It is a separate component, because forms also exist outside of the
 * router.
 */
function Guard() {
  useBlocker({ shouldBlockFn: () => !confirmLeaving(), enableBeforeUnload: true })
  return null
}

let question = 'Leave without saving?'

/** Sets the text of the question in the reader's language. */
export function askLeaving(text: string): void {
  question = text
}

function confirmLeaving(): boolean {
  return window.confirm(question)
}
