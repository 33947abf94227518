import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useLingui } from '@lingui/react'
import { useFormat } from '../../../app/format'
import { say } from '../../../parts/timeline/say'
import { Button } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Read } from '../../../ui/Read'
import { When } from '../../../ui/When'
import { usePlatformMay } from '../may'
import { useInvoices, type Listed } from './invoices'
import { useCustomer } from './useCustomer'

function Row({ of, tenant }: { of: Listed; tenant: string }) {
  const format = useFormat()
  const { i18n } = useLingui()
  const { text, small, tone } = say(of.latest, () => undefined, format, i18n.locale)
  return (
    <tr>
      <td className="k1"><Link className="rowlink" to="/platform/tenants/$tenantId/invoices/$invoiceId" params={{ tenantId: tenant, invoiceId: of.id }}>{of.number}</Link></td>
      <td className="k2">{of.issued && format.dayWithYear(of.issued)}</td>
      <td className="k3"><span className={tone === 'bad' ? 'small bad' : undefined}>{text}</span><small>{small ?? <When at={of.latest.at} />}</small></td>
      <td className="num k4"><b>{format.money(of.amount, of.currency)}</b></td>
    </tr>
  )
}

/** The invoices of a tenant with the latest event of each. */
export default function Invoices() {
  const of = useCustomer()
  const may = usePlatformMay()
  const { entries, invoices } = useInvoices(of.id)
  if (!may('logs.view')) return <Empty slim icon="lock" title={<Trans>You do not have permission to view this</Trans>} />
  return (
    <section>
      <h2 className="sr"><Trans>Invoices</Trans></h2>
      <Read query={entries} lines={6}>
        {() => invoices.length === 0
          ? <Empty slim icon="receipt" title={<Trans>No invoices yet</Trans>}><Trans>Invoices appear here with the first payment.</Trans></Empty>
          : (
              <>
                <table className="table mid cards rows tenant-invoices">
                  <thead><tr><th scope="col"><Trans>Number</Trans></th><th scope="col"><Trans>Issued</Trans></th><th scope="col"><Trans>Latest event</Trans></th><th scope="col" className="num"><Trans>Amount</Trans></th></tr></thead>
                  <tbody>{invoices.map((one) => <Row key={one.id} of={one} tenant={of.id} />)}</tbody>
                </table>
                {entries.hasNextPage && <div className="pager"><Button busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}><Trans>Load more</Trans></Button></div>}
              </>
            )}
      </Read>
    </section>
  )
}
