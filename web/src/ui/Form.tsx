import { useMutation } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { ApiError } from '../api/client'
import { FieldErrors } from './Field'
import { Problem } from './Messages'

/** The values of a form by the names of its fields; tick boxes are true or false. */
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

/** What a form's onSubmit throws when the reader decides against it: nothing has failed. */
export class Canceled extends Error {}

interface FormProps {
  /** Sends the values. A refusal (ApiError) is shown at its fields, or below the button. */
  onSubmit: (values: Values) => Promise<unknown>
  /** Asks before a page with unsaved changes is left. */
  guard?: boolean
  className?: string
  /** Gets whether the form is being sent and whether something was changed. */
  children: (state: { busy: boolean; changed: boolean }) => ReactNode
}

/**
 * A form whose fields keep their values through every failure. Errors stand at their fields and
 * the first of them has the focus; what belongs to no field stands below the button. Where the login has
 * ended it is asked for elsewhere, and the form waits to be sent again.
 */
export function Form({ onSubmit, guard = false, className, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [changed, setChanged] = useState(false)
  const pressed = useRef(false) // until React renders that the form is being sent
  const sending = useMutation({ mutationFn: onSubmit, onSuccess: () => setChanged(false), onSettled: () => { pressed.current = false } })
  const refusal = sending.error instanceof ApiError ? sending.error : undefined
  const known = Object.entries(refusal?.fields ?? {}).filter(([name]) => form.current?.elements.namedItem(name))
  const elsewhere = Object.entries(refusal?.fields ?? {}).filter(([name]) => !form.current?.elements.namedItem(name))

  useEffect(() => {
    if (sending.status !== 'error') return
    const refused = form.current?.querySelector<HTMLElement>('[aria-invalid]')
    refused?.focus({ preventScroll: true })
    const shown = refused?.closest('.field') ?? refused ?? form.current?.querySelector('.note[role=alert]')
    shown?.scrollIntoView({ block: 'nearest' })
  }, [sending.status, sending.submittedAt])

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    // A form in a dialog that this one opened is another form, although its events come by here.
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

/** Asks before the page is left. It is a part of its own, because forms stand outside the router, too. */
function Guard() {
  useBlocker({ shouldBlockFn: () => !confirmLeaving(), enableBeforeUnload: true })
  return null
}

let question = 'Leave without saving?'

/** Sets the words of the question, in the reader's language. */
export function askLeaving(text: string): void {
  question = text
}

function confirmLeaving(): boolean {
  return window.confirm(question)
}
