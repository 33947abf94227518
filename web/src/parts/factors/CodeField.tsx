import { useContext, useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { Field, FieldErrors } from '../../ui/Field'

/**
 * A field for a code of 6 or 8 digits: one input drawn as cells, so that pasting, autofill and
 * screen readers work as in any other field. With submits, the last digit submits the form: always,
 * or only until the first error. With clears, an error empties the field.
 */
export function CodeField({ label, name = 'code', digits = 6, help, submits, clears, autoFocus }: {
  label: ReactNode; name?: string; digits?: 6 | 8; help?: ReactNode; submits?: 'always' | 'once'; clears?: boolean; autoFocus?: boolean
}) {
  const errors = useContext(FieldErrors)
  const input = useRef<HTMLInputElement>(null)
  const failed = useRef(false)
  const [typedAfter, setTypedAfter] = useState<unknown>()
  const wrong = errors[name] !== undefined
  useEffect(() => {
    if (!wrong) return
    failed.current = true
    if (clears && input.current) input.current.value = ''
  }, [errors, wrong, clears])

  function onInput(event: FormEvent<HTMLInputElement>) {
    const field = event.currentTarget
    field.value = field.value.replace(/\D/g, '').slice(0, digits)
    setTypedAfter(errors)
    if (field.value.length === digits && (submits === 'always' || (submits === 'once' && !failed.current))) field.form?.requestSubmit()
  }
  return (
    // The error stays until the next key.
    <FieldErrors value={typedAfter === errors ? {} : errors}>
      <Field {...{ label, name, help }}>
        {({ bad, ...field }) => (
          <input
            {...field} ref={input} className={`code-in ${digits === 8 ? 'eight' : ''} ${bad}`} onInput={onInput}
            inputMode="numeric" autoComplete="one-time-code" autoFocus={autoFocus} data-autofocus={autoFocus || undefined}
          />
        )}
      </Field>
    </FieldErrors>
  )
}
