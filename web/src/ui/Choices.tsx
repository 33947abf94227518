import { useContext, useId, type ReactNode } from 'react'
import { FieldErrors } from './Field'
import { Icon } from './Icon'

/** Check boxes with a common label; any number can be selected. */
export function Choices<T extends string>({ name, label, hint, options, value, onChange, columns }: {
  name: string; label: ReactNode; hint?: ReactNode; columns?: boolean
  options: { value: T; label: ReactNode; small?: ReactNode; disabled?: boolean }[]
  value: readonly T[]; onChange: (to: T[]) => void
}) {
  const message = useContext(FieldErrors)[name]?.[0]
  const below = useId()
  const toggle = (one: T, on: boolean) => onChange(options.map((option) => option.value).filter((other) => (other === one ? on : value.includes(other))))
  return (
    <fieldset className="choices" name={name} aria-invalid={message ? true : undefined} aria-describedby={message ? below : undefined} tabIndex={message ? -1 : undefined}>
      <legend className="label">{label} {hint && <span>{hint}</span>}</legend>
      <div className={columns ? 'grid-2 tight' : 'stack tight'}>
        {options.map((option) => (
          <label key={option.value} className="check">
            <input type="checkbox" disabled={option.disabled} checked={value.includes(option.value)} onChange={(event) => toggle(option.value, event.target.checked)} />
            <span>{option.label}{option.small && <small>{option.small}</small>}</span>
          </label>
        ))}
      </div>
      {message && <p className="error" id={below}><Icon name="alert" />{message}</p>}
    </fieldset>
  )
}
