import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFormat } from '../../../app/format'
import { net } from './figures'
import { thisMonth, type Kind, type Month } from './reads'
import { kinds, useKindWords } from './words'

/** Returns the last day of a month. */
const lastDay = (month: string) => new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).toISOString()

/** A month as a sum. Each line leads to the tenants behind it. */
export function MonthSum({ of, latest, currency, kind: chosen }: { of: Month; latest: Month; currency: string; kind?: Kind }) {
  const format = useFormat()
  const words = useKindWords()
  const money = (amount: number, sign = true) => format.money(amount, currency, { sign })
  const counts: Partial<Record<Kind, number>> = { new: of.customers_new, churn: of.customers_churned, reactivation: of.customers_reactivated }
  const [first, last] = [format.utc.dayOnly(`${of.month}-01`), format.utc.dayOnly(lastDay(of.month))]
  const running = latest.month === thisMonth()
  const [current, soFar] = [format.first(format.utc.monthOnly(`${latest.month}-01`)), format.about(net(latest), currency, { sign: true })]
  return (
    <section aria-live="polite">
      <div className="sec-head"><h2>{format.first(format.utc.monthWithYear(`${of.month}-01`))}</h2></div>
      <dl className="sums">
        <div><dt><Trans>MRR on {first}</Trans></dt><dd>{money(of.opening, false)}</dd></div>
        {kinds.filter((kind) => kind !== 'reactivation' || of.reactivation !== 0).map((kind) => (
          <div key={kind}>
            <dt>
              {of[kind] === 0 ? words[kind] : (
                <Link
                  to="." hash="movements" resetScroll={false} activeProps={{}} aria-current={kind === chosen ? 'true' : undefined}
                  search={(before: Record<string, string | undefined>) => ({ ...before, month: of.month, kind, page: undefined })}
                >
                  {words[kind]}
                </Link>
              )}
              {!!counts[kind] && <span className="faint"> {format.number(counts[kind])}</span>}
            </dt>
            <dd>{money(of[kind])}</dd>
          </div>
        ))}
        {of.exchange !== 0 && <div><dt><Trans>Exchange rates</Trans></dt><dd>{money(of.exchange)}</dd></div>}
        <div className="tot"><dt>{of.month === thisMonth() ? <Trans>MRR now</Trans> : <Trans>MRR on {last}</Trans>}</dt><dd>{money(of.closing, false)}</dd></div>
      </dl>
      <p className="help"><Trans>Select a month in the chart.</Trans>{running && of.month !== latest.month && <> <Trans>{current} so far: {soFar}.</Trans></>}</p>
    </section>
  )
}
