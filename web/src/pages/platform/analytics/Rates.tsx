import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Skeleton } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { analyticsKey, ratesQuery, thisMonth } from './reads'

const today = () => new Date(now()).toISOString().slice(0, 10)

/** Returns the last day of a month that is not in the future. */
const dayOf = (month: string | undefined) => (!month || month >= thisMonth() ? today() : new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).toISOString().slice(0, 10))

const put = (date: string, rates: Record<string, number>) => api.PUT('/api/v1/admin/rates/{date}', { params: { path: { date } }, body: { rates } })

interface Props {
  base: string
  /** The currencies to ask for. */
  currencies: string[]
  /** The month whose last day is proposed. */
  month?: string
  open: boolean
  onClose: () => void
}

/** Adds or changes the exchange rates of a day. */
export function RateDialog(props: Props) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={<Trans>Add exchange rate</Trans>}>
      <Body {...props} />
    </Dialog>
  )
}

function Body({ base, currencies, month, onClose }: Props) {
  const { t } = useLingui()
  const [date, setDate] = useState(dayOf(month))
  const day = /^\d{4}-\d{2}-\d{2}$/.test(date) ? date : undefined
  const known = useQuery({ ...ratesQuery(day, day), enabled: day !== undefined })
  return (
    <>
      <p className="dialog-text"><Trans>Figures in {base} use the exchange rate of the last day of each month, or else the latest rate of the ten days before.</Trans></p>
      <TextField name="date" type="date" label={t({ message: 'Day', context: 'an exchange rate' })} value={date} max={today()} onChange={(event) => setDate(event.target.value)} data-autofocus />
      {known.isPending && day ? <Skeleton lines={2} /> : <Fields key={date} {...{ base, currencies, date, onClose }} known={known.data?.[0]} />}
    </>
  )
}

/** The rates of one day. Saving replaces the day, so the rates of other currencies are sent along. */
function Fields({ base, currencies, date, known, onClose }: Omit<Props, 'open'> & { date: string; known?: Schema<'DayRates'> }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const asked = [...new Set([...currencies, ...Object.keys(known?.rates ?? {})])]
  async function save(values: Values) {
    const wrong: Record<string, string[]> = {}
    const rates: Record<string, number> = {}
    for (const one of asked) {
      const text = String(values[one]).trim()
      if (!text) continue
      const rate = format.parse(text, 10)
      if (rate) rates[one] = rate
      else wrong[one] = [t`Enter a number above 0 with at most ten decimals.`]
    }
    if (Object.keys(rates).length === 0 && asked[0]) wrong[asked[0]] ??= [t`Enter a rate.`]
    if (Object.keys(wrong).length > 0) throw new ApiError(422, '', undefined, wrong)
    await put(date, rates)
    await queries.invalidateQueries({ queryKey: analyticsKey })
    onClose()
    toast(<Trans>The rates of {format.day(date)} were saved.</Trans>)
  }
  return (
    <Form className="stack" onSubmit={save}>
      {({ busy }) => (
        <>
          {asked.map((one) => (
            <TextField
              key={one} name={one} inputMode="decimal" autoComplete="off" label={t`1 ${base} in ${one}`} hint={format.currency(one)}
              defaultValue={known?.rates[one] === undefined ? '' : format.precise(known.rates[one])}
            />
          ))}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Save rates</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** The rates of the last 30 days. A deletion can be undone. */
export function RateList({ base }: { base: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const queries = useQueryClient()
  const rates = useQuery(ratesQuery())
  const reload = () => queries.invalidateQueries({ queryKey: analyticsKey })
  const remove = useMutation({
    mutationFn: (of: Schema<'DayRates'>) => api.DELETE('/api/v1/admin/rates/{date}', { params: { path: { date: of.date } } }),
    onSuccess: async (_, of) => {
      await reload()
      toast(<Trans>The rates of {format.day(of.date)} were deleted.</Trans>, { label: <Trans>Undo</Trans>, run: async () => { await put(of.date, of.rates); await reload() } })
    },
    onError: (error) => toast(error.message),
  })
  if (!rates.data?.length) return null
  return (
    <details className="behind">
      <summary><Trans>Rates of the last 30 days</Trans></summary>
      <ul className="list rates">
        {rates.data.map((one) => (
          <li key={one.date}>
            <time dateTime={one.date}>{format.day(one.date)}</time>
            <span>1 {base} = {Object.entries(one.rates).map(([code, rate]) => `${format.precise(rate)} ${code}`).join('; ')}</span>
            {may('rates.manage') && <Button size="s" look="quiet" icon="x" aria-label={t`Delete the rates of ${format.day(one.date)}`} busy={remove.isPending && remove.variables?.date === one.date} onClick={() => remove.mutate(one)} />}
          </li>
        ))}
      </ul>
    </details>
  )
}
