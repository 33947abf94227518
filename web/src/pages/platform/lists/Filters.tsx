import { Trans, useLingui } from '@lingui/react/macro'
import { Popover } from '@mantine/core'
import { createContext, useContext, useState, type ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { useFilters } from '../../../app/filters'
import { Floating } from '../../../ui/Floating'
import { Icon } from '../../../ui/Icon'
import { Button } from '../../../ui/Button'
import type { Search } from './place'

/** The words of the button that closes a filter, such as Show 12 tenants. */
const DoneContext = createContext<ReactNode>(null)

/**
 * The search field and the filters of a list. On a phone, only the filters that are set are shown
 * until the reader asks for the others.
 */
export function Filters({ search, done, children }: { search: ReactNode; done: ReactNode; children: ReactNode }) {
  const { t } = useLingui()
  const [open, setOpen] = useState(false)
  return (
    <DoneContext value={done}>
      <div className="toolbar">
        {search}
        <div className={`chips ${open ? 'is-open' : ''}`} role="group" aria-label={t`Filters`}>
          {children}
          <button type="button" className="chip add all-f" aria-expanded={open} onClick={() => setOpen(!open)}><Icon name={open ? 'minus' : 'plus'} /><Trans>Filter</Trans></button>
        </div>
      </div>
    </DoneContext>
  )
}

/**
 * A filter as a chip: dashed while it is not set, otherwise with its value and a button that removes
 * it. A click opens its choices.
 */
export function FilterChip({ label, names, value, children }: {
  label: string
  /** The parameters of the address that it sets. */
  names: string[]
  /** The value in words; undefined while it is not set. */
  value: string | undefined
  children: ReactNode
}) {
  const { t } = useLingui()
  const { colon } = useFormat()
  const [, change] = useFilters()
  const done = useContext(DoneContext)
  const [open, setOpen] = useState(false)
  const clear = () => change(Object.fromEntries(names.map((name) => [name, undefined])) as Search)
  return (
    <Floating>
      <Popover opened={open} onChange={setOpen} position="bottom-start" offset={6} trapFocus returnFocus transitionProps={{ duration: 120 }} classNames={{ dropdown: 'menu filter-menu' }}>
        <span className={value === undefined ? 'chip add opt-f' : 'chip set'}>
          <Popover.Target>
            <button type="button" onClick={() => setOpen(!open)}>{value === undefined ? <><Icon name="plus" />{label}</> : <>{label}{colon} <b>{value}</b></>}</button>
          </Popover.Target>
          {value !== undefined && <button type="button" aria-label={t`Remove the filter ${label}`} onClick={clear}><Icon name="x" /></button>}
        </span>
        <Popover.Dropdown aria-label={label}>
          <p className="cap">{label}</p>
          {children}
          <div className="foot">
            <Button size="s" look="quiet" disabled={value === undefined} onClick={clear}><Trans>Clear</Trans></Button>
            <Button size="s" onClick={() => setOpen(false)}>{done}</Button>
          </div>
        </Popover.Dropdown>
      </Popover>
    </Floating>
  )
}

export interface Option { value: string; label: string }

/** The number of options above which they can be searched. */
const many = 12

/** A filter with options. Several options are separated by commas in the address. */
export function ChoiceFilter({ name, label, options, several }: { name: string; label: string; options: Option[]; several?: boolean }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const [sought, setSought] = useState('')
  const chosen = (search[name] ?? '').split(',').filter(Boolean)
  const words = chosen.map((value) => options.find((one) => one.value === value)?.label ?? value)
  const text = sought.trim().toLocaleLowerCase()
  const shown = options.filter((one) => one.label.toLocaleLowerCase().includes(text))
  const toggle = (value: string, on: boolean) => {
    const to = several ? [...chosen.filter((one) => one !== value), ...(on ? [value] : [])] : [value]
    change({ [name]: to.join(',') || undefined }, { replace: true })
  }
  return (
    <FilterChip label={label} names={[name]} value={words.length === 0 ? undefined : words.length > 2 ? `${words.slice(0, 2).join(', ')} +${words.length - 2}` : words.join(', ')}>
      {options.length > many && <input className="input dense" type="search" aria-label={t`Search`} placeholder={t`Search`} value={sought} onChange={(event) => setSought(event.target.value)} data-autofocus />}
      <div className="options">
        {shown.map((one) => (
          <label key={one.value} className="check">
            <input type={several ? 'checkbox' : 'radio'} name={`filter-${name}`} checked={chosen.includes(one.value)} onChange={(event) => toggle(one.value, event.target.checked)} />
            <span>{one.label}</span>
          </label>
        ))}
      </div>
    </FilterChip>
  )
}

/** A filter that is either set or not, without choices. */
export function FlagFilter({ name, label }: { name: string; label: string }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  if (search[name] !== '1') return <span className="chip add opt-f"><button type="button" onClick={() => change({ [name]: '1' })}><Icon name="plus" />{label}</button></span>
  return (
    <span className="chip set">
      <b>{label}</b>
      <button type="button" aria-label={t`Remove the filter ${label}`} onClick={() => change({ [name]: undefined })}><Icon name="x" /></button>
    </span>
  )
}
