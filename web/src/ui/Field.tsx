import { useLingui } from '@lingui/react/macro'
import { createContext, useContext, useId, useState, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from 'react'
import { Icon } from './Icon'

/** The errors of a form by field, as the service returned them. */
export const FieldErrors = createContext<Record<string, string[]>>({})

interface FieldProps {
  label: ReactNode
  /** The field's name in the request, which also identifies its errors. */
  name?: string
  /** Next to the label: optional, fixed. */
  hint?: ReactNode
  /** To the right of the label: a link. */
  aside?: ReactNode
  help?: ReactNode
  /** An error of the console. Errors of the service are found by name. */
  error?: ReactNode
  children: (props: { id: string; name?: string; 'aria-invalid'?: true; 'aria-describedby'?: string; bad: string }) => ReactNode
}

/** A label, its input, and its help or error. */
export function Field({ label, name, hint, aside, help, error, children }: FieldProps) {
  const id = useId()
  const errors = useContext(FieldErrors)
  const message = error ?? (name ? errors[name]?.[0] : undefined)
  const below = `${id}-below`
  const text = <label htmlFor={id} className="label">{label} {hint && <span>{hint}</span>}</label>
  return (
    <div className="field">
      {aside ? <div className="label-row">{text}{aside}</div> : text}
      {children({
        id, name, bad: message ? 'is-bad' : '',
        'aria-invalid': message ? true : undefined,
        'aria-describedby': message || help ? below : undefined,
      })}
      {message
        ? <p className="error" id={below}><Icon name="alert" />{message}</p>
        : help && <p className="help" id={below}>{help}</p>}
    </div>
  )
}

/** The error of a control that is not a Field. */
export function FieldError({ name }: { name: string }) {
  const message = useContext(FieldErrors)[name]?.[0]
  return message && <p className="error" role="alert"><Icon name="alert" />{message}</p>
}

type Rest = Pick<FieldProps, 'label' | 'hint' | 'aside' | 'help' | 'error'> & { name: string }

export function TextField(
  { label, name, hint, aside, help, error, className = '', ...rest }: Rest & Omit<InputHTMLAttributes<HTMLInputElement>, 'name'>,
) {
  return (
    <Field {...{ label, name, hint, aside, help, error }}>
      {({ bad, ...field }) => <input {...rest} {...field} className={`input ${className} ${bad}`} />}
    </Field>
  )
}

export function PasswordField(
  { label, name, hint, aside, help, error, ...rest }: Rest & Omit<InputHTMLAttributes<HTMLInputElement>, 'name' | 'type'>,
) {
  const { t } = useLingui()
  const [shown, setShown] = useState(false)
  return (
    <Field {...{ label, name, hint, aside, help, error }}>
      {({ bad, ...field }) => (
        <div className="affix end">
          <input {...rest} {...field} type={shown ? 'text' : 'password'} className={`input ${bad}`} />
          <button type="button" aria-pressed={shown} aria-label={t`Show password`} onClick={() => setShown(!shown)}>
            <Icon name="eye" />
          </button>
        </div>
      )}
    </Field>
  )
}

export function SelectField(
  { label, name, hint, aside, help, error, children, ...rest }: Rest & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'name'>,
) {
  return (
    <Field {...{ label, name, hint, aside, help, error }}>
      {({ bad, ...field }) => <select {...rest} {...field} className={`select ${bad}`}>{children}</select>}
    </Field>
  )
}

export function AreaField(
  { label, name, hint, aside, help, error, ...rest }: Rest & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'name'>,
) {
  return (
    <Field {...{ label, name, hint, aside, help, error }}>
      {({ bad, ...field }) => <textarea {...rest} {...field} className={`area ${bad}`} />}
    </Field>
  )
}

/** A check box or, with type radio, a radio button. */
export function Check({ children, small, ...rest }: InputHTMLAttributes<HTMLInputElement> & { small?: ReactNode }) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      <span>{children}{small && <small>{small}</small>}</span>
    </label>
  )
}

/** A switch. Without a form it takes effect immediately. */
export function Switch({ children, small, ...rest }: InputHTMLAttributes<HTMLInputElement> & { small?: ReactNode }) {
  return (
    <label className={small ? 'switch top-s' : 'switch'}>
      <input type="checkbox" role="switch" {...rest} />
      <i />
      <span>{children}{small && <small>{small}</small>}</span>
    </label>
  )
}

/** An integer with buttons to decrease and increase it. */
export function Stepper({ value, onChange, min = 1, max = 1_000_000, label, fewer, more }: {
  value: number; onChange: (to: number) => void; min?: number; max?: number; label: string; fewer: string; more: string
}) {
  return (
    <div className="stepper">
      <button type="button" aria-label={fewer} disabled={value <= min} onClick={() => onChange(value - 1)}><Icon name="minus" /></button>
      <input
        value={value || ''} inputMode="numeric" aria-label={label}
        onChange={(event) => onChange(Math.min(max, Number(event.target.value.replace(/\D/g, ''))))}
        onBlur={() => onChange(Math.max(min, value))}
      />
      <button type="button" aria-label={more} disabled={value >= max} onClick={() => onChange(value + 1)}><Icon name="plus" /></button>
    </div>
  )
}

/** A selection from a few options, side by side. */
export function Segments<T extends string>({ value, onChange, options, label, className = '' }: {
  value: T; onChange: (to: T) => void; options: { value: T; label: ReactNode }[]; label: string; className?: string
}) {
  return (
    <div className={`seg ${className}`} role="group" aria-label={label}>
      {options.map((one) => (
        <button key={one.value} type="button" aria-pressed={one.value === value} onClick={() => onChange(one.value)}>{one.label}</button>
      ))}
    </div>
  )
}
