import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo, useState, type ReactNode } from 'react'
import { ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { reasonWords } from '../../../parts/credit/reasons'
import { makeNote, type CreditNote, type Reason, type Settlement } from '../../../parts/credit/api'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { FieldError, Segments, SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { useDigits } from '../plan/digits'
import { minorUnits, written } from '../plan/draft'
import { draftOf, leftOf, useNotePreview, type Choice, type LineText } from './creditNote'
import { NoteLines } from './NoteLines'
import { NotePreview } from './NotePreview'
import { useSaved } from './useSaved'

interface Props {
  tenant: { id: string; name: string }
  invoice: Schema<'Invoice'>
  notes: CreditNote[]
  open: boolean
  onClose: () => void
}

/** Makes a credit note for an invoice: what is credited on the left, what follows from it on the right. */
export function CreateNote(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={<Trans>Create credit note</Trans>} wide="xl">
      <Body {...props} />
    </Dialog>
  )
}

function Pick({ value, at, onChange, small, end, disabled, children }: {
  value: Settlement; at: Settlement; onChange: (to: Settlement) => void; small: ReactNode; end?: ReactNode; disabled?: boolean; children: ReactNode
}) {
  return (
    <label className={`check ${disabled ? 'is-off' : ''}`}>
      <input type="radio" name="settlement" value={value} checked={value === at} disabled={disabled} onChange={() => onChange(value)} />
      <span>{children}<small>{small}</small></span>
      {end && <span className="end">{end}</span>}
    </label>
  )
}

function Body({ tenant, invoice, notes, onClose }: Props) {
  const { t, i18n } = useLingui()
  const format = useFormat()
  const digits = useDigits()(invoice.total.currency)
  const saved = useSaved(onClose)
  const isOpen = invoice.status === 'open'
  const left = leftOf(invoice)
  const [choice, setChoice] = useState<Choice>('lines')
  const [lines, setLines] = useState<LineText[]>([])
  const [text, setText] = useState('')
  const [wanted, setSettlement] = useState<Settlement>(isOpen ? 'none' : 'refund')
  const [reason, setReason] = useState<Reason>('order_change')
  const cents = (amount: string) => minorUnits(amount, digits)
  const draft = draftOf({ choice, lines, text, settlement: wanted, reason, left, cents })
  const { preview, refundable, problem, busy } = useNotePreview(tenant.id, invoice, draft)
  // Without a payment by card there is nothing to refund.
  const settlement = wanted === 'refund' && refundable === 0 ? 'credit' : wanted
  const money = (of: number) => format.money(of, invoice.total.currency)
  const amount = preview ? money(preview.total.amount_cents) : ''
  const key = useMemo(() => `note-${Math.random().toString(36).slice(2)}-${Date.now()}`, [JSON.stringify(draft)]) // eslint-disable-line react-hooks/exhaustive-deps
  const label = !amount ? <Trans>Create credit note</Trans>
    : isOpen ? <Trans>Lower amount due by {amount}</Trans>
      : { refund: <Trans>Refund {amount}</Trans>, credit: <Trans>Add {amount} to the balance</Trans>, none: <Trans>Create credit note for {amount}</Trans> }[settlement]

  async function save(memo: string) {
    if (!draft) throw new ApiError(422, '', undefined, choice === 'lines' ? { lines: [t`Select at least one line and enter its amount.`] } : { amount_cents: [t`Enter an amount above 0.`] })
    try {
      const { number } = await makeNote(tenant.id, invoice.id, { ...draft, settlement, memo: memo.trim() || undefined }, key)
      await saved(<Trans>Credit note {number} was created.</Trans>)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'amount_too_large') throw error
      const most = format.sum(error.body.amount_left as Schema<'Money'>)
      const message = settlement === 'refund' ? t`At most ${most} can be refunded.` : t`At most ${most} can be credited.`
      throw new ApiError(422, message, error.code, { [choice === 'lines' ? 'lines' : 'amount_cents']: [message] })
    }
  }
  return (
    <Form className="cn" onSubmit={(values) => save(String(values.memo ?? ''))}>
      {({ busy: sending }) => (
        <>
          <div className="cn-main">
            <div className="cn-title">
              <h2 aria-hidden="true"><Trans>Create credit note</Trans></h2>
              <p className="t13 muted"><Trans>Invoice {invoice.number} of {tenant.name}, {money(invoice.total.amount_cents)}</Trans></p>
            </div>
            <fieldset>
              <legend className="label"><Trans>What to credit</Trans></legend>
              <Segments label={t`What to credit`} value={choice} onChange={setChoice} options={[{ value: 'lines', label: t`By line` }, { value: 'amount', label: t`By amount` }, { value: 'all', label: t`Whole invoice` }]} />
              {choice === 'lines' && <NoteLines invoice={invoice} notes={notes} lines={lines} onChange={setLines} />}
              {choice === 'amount' && <div className="cn-amount"><TextField name="amount_cents" label={t`Amount with tax (${format.currency(invoice.total.currency)})`} inputMode="decimal" autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} placeholder={written(left, digits)} error={problem} help={t`At most ${money(left)} can be credited.`} /></div>}
              {choice === 'all' && <p className="help cn-amount">{left < invoice.total.amount_cents ? <Trans>Credits the remaining {money(left)}.</Trans> : <Trans>Credits the total of {money(left)}.</Trans>}</p>}
              {choice === 'lines' && <FieldError name="lines" />}
              {choice !== 'amount' && problem && <p className="error" role="alert">{problem}</p>}
            </fieldset>
            <fieldset>
              <legend className="label"><Trans>Settlement</Trans></legend>
              {isOpen
                ? <p className="outcome"><Trans>The invoice is not paid yet. The credit note lowers the amount due.</Trans></p>
                : (
                    <div className="pick">
                      <Pick value="refund" at={settlement} onChange={setSettlement} disabled={refundable === 0} small={refundable === 0 ? <Trans>Not paid by card</Trans> : <Trans>Arrives in 5 to 10 days</Trans>} end={refundable ? <Trans>Up to {money(refundable)}</Trans> : undefined}><Trans>Refund to the card</Trans></Pick>
                      <Pick value="credit" at={settlement} onChange={setSettlement} small={<Trans>Applied to the next invoices</Trans>}><Trans>Add to the balance</Trans></Pick>
                      <Pick value="none" at={settlement} onChange={setSettlement} small={<Trans>Only the document is created, for example after a bank transfer</Trans>}><Trans>Settle outside of the service</Trans></Pick>
                    </div>
                  )}
              <FieldError name="settlement" />
            </fieldset>
            <div className="two">
              <SelectField name="reason" label={t`Reason`} value={reason} onChange={(event) => setReason(event.target.value as Reason)}>
                {Object.entries(reasonWords).map(([value, words]) => <option key={value} value={value}>{i18n._(words)}</option>)}
              </SelectField>
              <TextField name="memo" label={t`Memo`} hint={t`optional`} maxLength={500} autoComplete="off" help={t`Printed on the document`} />
            </div>
          </div>
          <NotePreview invoice={invoice} draft={draft} preview={preview} busy={busy}>
            <p className="help"><Trans>The subscription continues. The customer sees the credit note with its PDF on the invoice.</Trans></p>
            <Button type="submit" look="primary" block busy={sending} disabled={busy || !!problem}>{label}</Button>
            <Button look="quiet" block onClick={onClose}><Trans>Cancel</Trans></Button>
          </NotePreview>
        </>
      )}
    </Form>
  )
}
