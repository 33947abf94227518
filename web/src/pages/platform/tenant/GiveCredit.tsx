import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { CurrencyChoice } from '../../../ui/CurrencyChoice'
import { Dialog } from '../../../ui/Dialog'
import { Segments, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Read } from '../../../ui/Read'
import { currenciesQuery } from '../catalog/reads'
import { usePlatformMay } from '../may'
import { useDigits } from '../plan/digits'
import { minorUnits } from '../plan/draft'
import { currentOf } from './MoneyFacts'
import { creditQuery, subscriptionsQuery } from './reads'
import { fieldError, useSaved } from './useSaved'

interface Props {
  tenant: Schema<'AdminTenant'>
  open: boolean
  onClose: () => void
}

/** Gives credit for the next invoices, or takes it back. */
export function GiveCredit({ tenant, open, onClose }: Props) {
  const credit = useQuery({ ...creditQuery(tenant.id), enabled: open })
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Give credit</Trans>}>
      <Read query={credit} lines={5}>{(found) => <Body credit={found} tenant={tenant} onClose={onClose} />}</Read>
    </Dialog>
  )
}

function Body({ credit, tenant, onClose }: { credit: Schema<'AdminCredit'>; tenant: Schema<'AdminTenant'>; onClose: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const digits = useDigits()
  const may = usePlatformMay()
  const saved = useSaved(onClose)
  const { balance } = credit
  const current = currentOf(useQuery(subscriptionsQuery(tenant.id)).data ?? [])
  const currencies = (useQuery({ ...currenciesQuery, enabled: may('plans.view') }).data ?? []).filter((one) => one.is_active).map((one) => one.code)
  // A balance and a running subscription fix the currency.
  const fixed = balance.amount_cents !== 0 || (!!current && current.status !== 'canceled' && current.status !== 'incomplete_expired')
  const [chosen, setChosen] = useState(balance.currency)
  const currency = fixed ? balance.currency : chosen
  const [direction, setDirection] = useState<'give' | 'take'>('give')
  const [text, setText] = useState('')
  const cents = minorUnits(text, digits(currency))
  const signed = (cents ?? 0) * (direction === 'give' ? 1 : -1)
  const most = format.sum(balance)
  const valid = cents !== undefined && cents > 0 && (direction === 'give' || cents <= balance.amount_cents)
  const [amount, next] = [format.money(cents ?? 0, currency), format.money((currency === balance.currency ? balance.amount_cents : 0) + signed, currency)]
  const name = format.currency(currency)
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        if (cents === undefined || cents === 0) throw fieldError('amount_cents', t`Enter an amount above 0.`)
        if (direction === 'take' && cents > balance.amount_cents) throw fieldError('amount_cents', t`At most ${most} can be deducted.`)
        await api.POST('/api/v1/admin/tenants/{tenant}/credit', {
          params: { path: { tenant: tenant.id } }, body: { amount_cents: signed, currency, reason: String(values.reason).trim() },
        })
        await saved(direction === 'give' ? <Trans>{amount} credit given to {tenant.name}.</Trans> : <Trans>{amount} credit deducted.</Trans>)
      }}
    >
      {({ busy }) => (
        <>
          <p className="flat"><Trans>The balance is applied to the next invoices. Packs are always paid in full.</Trans></p>
          {balance.amount_cents > 0 && (
            <Segments label={t`Direction`} value={direction} onChange={setDirection} options={[{ value: 'give', label: t`Give credit` }, { value: 'take', label: t`Take credit back` }]} />
          )}
          <div className="two">
            <TextField name="amount_cents" label={t`Amount (${name})`} inputMode="decimal" autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} help={direction === 'take' && t`At most ${most} can be deducted.`} data-autofocus />
            {!fixed && currencies.length > 1 && <div className="field"><span className="label"><Trans>Currency</Trans></span><CurrencyChoice currencies={currencies} value={currency} onChange={setChosen} /></div>}
          </div>
          <TextField name="reason" label={t`Reason`} maxLength={500} autoComplete="off" help={t`Shown to operators only.`} />
          {valid && <p className="outcome" role="status"><Trans>Balance: {most} → <b>{next} credit</b>.</Trans> {direction === 'give' && <Trans>It is applied to the next invoices.</Trans>}</p>}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>
              {direction === 'take' ? (valid ? <Trans>Deduct {amount}</Trans> : <Trans>Take credit back</Trans>) : valid ? <Trans>Give {amount} credit</Trans> : <Trans>Give credit</Trans>}
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
