import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { pageOf, useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { Chips } from '../../../ui/Chips'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { csvOf, movementsQuery, type Kind, type Scope } from './reads'
import { kinds, useKindWords } from './words'

/** The tenants behind a figure of a month, largest change first. */
export function Movements({ scope, month, kind }: { scope: Scope; month: string; kind: Kind }) {
  const { t } = useLingui()
  const format = useFormat()
  const words = useKindWords()
  const [search, change] = useFilters()
  const found = useQuery(movementsQuery(scope, month, kind, pageOf(search)))
  const heading = useRef<HTMLHeadingElement>(null)
  const name = format.utc.monthWithYear(`${month}-01`)
  const word = words[kind]
  // The list appears below the link that opened it.
  useEffect(() => heading.current?.focus(), [])
  return (
    <section className="sec" id="movements">
      <div className="sec-head">
        <h2 ref={heading} tabIndex={-1}><Trans>{word} in {name}</Trans></h2>
        <span className="end acts">
          <ButtonAnchor size="s" icon="download" href={csvOf('/movements', { ...scope, month, kind })} download><Trans>Export CSV</Trans></ButtonAnchor>
          <Button size="s" look="quiet" icon="x" aria-label={t`Close the list`} onClick={() => change({ kind: undefined })} />
        </span>
      </div>
      <div className="toolbar"><Chips name="kind" value={kind} label={t`Movement`} always options={kinds.map((value) => ({ value, label: words[value] }))} /></div>
      <Read query={found} lines={5}>
        {({ data, meta }) => data.length === 0
          ? <Empty slim level="h3" icon="building" title={<Trans>No tenants in this month</Trans>} />
          : (
            <div className={found.isPlaceholderData ? 'is-old' : undefined}>
              <table className="table cards rows movements">
                <thead><tr><th scope="col"><Trans>Tenant</Trans></th><th scope="col" className="num"><Trans>Before</Trans></th><th scope="col" className="num"><Trans>After</Trans></th><th scope="col" className="num"><Trans>Change</Trans></th></tr></thead>
                <tbody>
                  {data.map((one, i) => (
                    <tr key={one.tenant.id ?? i}>
                      <td className="k1">{one.tenant.id ? <Link className="rowlink" to="/platform/tenants/$tenantId" params={{ tenantId: one.tenant.id }}>{one.tenant.name}</Link> : <span className="muted"><Trans>Deleted tenant</Trans></span>}</td>
                      <td className="k2 num" data-l={t`Before`}>{format.sum(one.before)}</td>
                      <td className="k3 num" data-l={t`After`}>{format.sum(one.after)}</td>
                      <td className="k4 num" data-l={t`Change`}><b>{format.money(one.change.amount_cents, one.change.currency, { sign: true })}</b></td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <Pager meta={meta} />
            </div>
          )}
      </Read>
    </section>
  )
}
