import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Read } from '../../../ui/Read'
import { toast } from '../../../ui/Toast'
import { currenciesQuery } from '../catalog/reads'

/** Adds standard currencies by code. */
export function AddCurrencies({ open, onClose }: { open: boolean; onClose: () => void }) {
  return <Dialog open={open} onClose={onClose} title={<Trans>Add currencies</Trans>}><AddBody onClose={onClose} /></Dialog>
}

function AddBody({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const [wanted, setWanted] = useState('')
  const [codes, setCodes] = useState<string[]>([])
  const known = useQuery({ queryKey: ['currencies', 'known'], queryFn: async () => (await api.GET('/api/v1/admin/currencies/catalog')).data!.data })
  const have = useQuery(currenciesQuery).data ?? []
  const toggle = (code: string, on: boolean) => setCodes(on ? [...codes, code] : codes.filter((one) => one !== code))
  return (
    <Form
      className="stack"
      onSubmit={async () => {
        await api.POST('/api/v1/admin/currencies/bulk', { body: { codes } })
        await queries.invalidateQueries({ queryKey: ['currencies'] })
        onClose()
        toast(<Trans>Added: {format.list(codes)}.</Trans>)
      }}
    >
      {({ busy }) => (
        <>
          <TextField name="find" label={t`Search`} value={wanted} onChange={(event) => setWanted(event.target.value)} autoComplete="off" data-autofocus />
          <Read query={known} lines={5}>
            {(found) => {
              const shown = found
                .filter((one) => !have.some((other) => other.code === one.code))
                .filter((one) => codes.includes(one.code) || `${one.code} ${one.name} ${format.currency(one.code)}`.toLowerCase().includes(wanted.trim().toLowerCase()))
              return (
                <fieldset className="choices currency-choices" name="codes">
                  <legend className="sr">{t`Currencies`}</legend>
                  {shown.map((one) => (
                    <label key={one.code} className="check">
                      <input type="checkbox" checked={codes.includes(one.code)} onChange={(event) => toggle(one.code, event.target.checked)} />
                      <span>{format.currency(one.code)} <span className="faint">{one.code}</span></span>
                    </label>
                  ))}
                  {shown.length === 0 && <p className="t13 muted"><Trans>No known currency matches.</Trans></p>}
                </fieldset>
              )
            }}
          </Read>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy} disabled={codes.length === 0}>{codes.length > 0 ? <Trans>Add {format.list(codes.slice(0, 4))}</Trans> : <Trans>Add</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}

interface EditProps {
  /** The currency to change; undefined creates a custom one. */
  of?: Schema<'AdminCurrency'>
  open: boolean
  onClose: () => void
}

/** Changes a currency's name, symbol and decimals, or creates a custom currency. */
export function EditCurrency(props: EditProps) {
  return <Dialog open={props.open} onClose={props.onClose} title={props.of ? <Trans>Edit {props.of.code}</Trans> : <Trans>Custom currency</Trans>}><EditBody {...props} /></Dialog>
}

function EditBody({ of, onClose }: EditProps) {
  const { t } = useLingui()
  const queries = useQueryClient()
  async function save(values: Values) {
    const body = { name: String(values.name).trim(), symbol: String(values.symbol).trim(), minor_units: Number(values.minor_units) as 0 | 2 | 3 }
    if (of) await api.PATCH('/api/v1/admin/currencies/{currency}', { params: { path: { currency: of.code } }, body })
    else await api.POST('/api/v1/admin/currencies', { body: { ...body, code: String(values.code).trim().toUpperCase(), is_active: true } })
    await queries.invalidateQueries({ queryKey: ['currencies'] })
    onClose()
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          {!of && <TextField name="code" label={t`Code`} maxLength={3} autoComplete="off" help={t`Three letters.`} data-autofocus />}
          <TextField name="name" label={t`Name`} defaultValue={of?.name} autoComplete="off" help={t`Users see the name in their own language if a translation exists.`} />
          <TextField name="symbol" label={t`Symbol`} defaultValue={of?.symbol} maxLength={10} autoComplete="off" />
          <SelectField name="minor_units" label={t`Decimals`} defaultValue={String(of?.minor_units ?? 2)} help={t`Cannot be changed while amounts in this currency are stored.`}>
            <option>0</option><option>2</option><option>3</option>
          </SelectField>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{of ? <Trans>Save</Trans> : <Trans>Create currency</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
