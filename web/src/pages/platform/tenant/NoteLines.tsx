import { Trans, useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import type { CreditNote } from '../../../parts/credit/api'
import { useDigits } from '../plan/digits'
import { written } from '../plan/draft'
import { leftOfLine, type LineText } from './creditNote'

/** The lines of an invoice, to select with an amount each. */
export function NoteLines({ invoice, notes, lines, onChange }: {
  invoice: Schema<'Invoice'>; notes: CreditNote[]; lines: LineText[]; onChange: (to: LineText[]) => void
}) {
  const { t } = useLingui()
  const format = useFormat()
  const digits = useDigits()(invoice.total.currency)
  return (
    <table className="table cards cn-lines">
      <thead><tr><th scope="col"><Trans>Line</Trans></th><th scope="col" className="num"><Trans>Up to</Trans></th><th scope="col" className="num"><Trans>Credit</Trans></th></tr></thead>
      <tbody>
        {invoice.lines.map((line) => {
          const { id, description } = line
          const left = leftOfLine(invoice, line, notes)
          const chosen = lines.find((one) => one.id === id)
          if (line.type === 'adjustment') return <tr key={id} className="off"><td className="k1">{description}<small><Trans>Already deducted from the lines</Trans></small></td><td className="num k2">{format.sum(line.amount)}</td><td className="k3" /></tr>
          const text = written(left, digits)
          const set = (to: string | undefined) => onChange(invoice.lines.flatMap((one) => {
            const known = lines.find((other) => other.id === one.id)
            return one.id !== id ? (known ? [known] : []) : to === undefined ? [] : [{ id, text: to }]
          }))
          return (
            <tr key={id}>
              <td className="k1">
                <label className="check">
                  <input type="checkbox" checked={!!chosen} disabled={left === 0} onChange={(event) => set(event.target.checked ? text : undefined)} />
                  <span>{description}{line.period_start && line.period_end && <small>{format.period(line.period_start, line.period_end)}</small>}</span>
                </label>
              </td>
              <td className="num k2" data-l={t`Up to`}>{format.money(left, line.amount.currency)}</td>
              <td className="num k3">
                <input className="input" inputMode="decimal" autoComplete="off" aria-label={t`Amount of ${description}`} disabled={left === 0} value={chosen?.text ?? ''} placeholder={written(0, digits)} onFocus={() => chosen ?? set(text)} onChange={(event) => set(event.target.value)} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
