import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { Button } from '../../ui/Button'
import { ClearFilters } from '../../ui/ClearFilters'
import { Confirm } from '../../ui/Confirm'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { CatalogTabs } from './CatalogTabs'
import { usePlatformMay } from './may'
import { MeterForm } from './meters/MeterForm'
import { writtenUnit } from './meters/MeterPrices'
import { aggregationWord, enforcementWord, resetWord } from './meters/words'
import { NotAllowed } from './NotAllowed'
import { useDigits } from './plan/digits'

function MeterRow({ of }: { of: Schema<'AdminMeter'> }) {
  const { t } = useLingui()
  const format = useFormat()
  const digits = useDigits()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const close = () => setAsked(undefined)
  const prices = of.prices.map((one) => `${writtenUnit(one.unit_price_cents, digits(one.currency))} ${one.currency}`)
  const again = resetWord(of.reset_interval)
  return (
    <tr>
      <td className="k1"><button type="button" className="rowlink as-row" onClick={() => setAsked('edit')}>{of.name}</button><small><code>{of.code}</code>{of.unit_label && `, ${of.unit_label}`}</small></td>
      <td className="k2">{aggregationWord(of.aggregation_type)}<small><Trans>resets: {again}</Trans></small></td>
      <td className="k3" data-l={t`At the limit`}>{enforcementWord(of.quota_enforcement)}</td>
      <td className="k4" data-l={t`Unit price`}>{prices.length > 0 ? format.list(prices) : <span className="faint"><Trans>None</Trans></span>}{of.is_billable && <small><Trans>billed</Trans></small>}</td>
      <td className="k5">{of.is_active ? <Status tone="good"><Trans context="meter">Active</Trans></Status> : <Status tone="off"><Trans context="meter">Inactive</Trans></Status>}</td>
      <td className="acts-cell">
        <More small>
          <MenuEntry icon="pencil" onClick={() => setAsked('edit')}><Trans>Edit</Trans></MenuEntry>
          <MenuLine />
          <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>
        </More>
        <MeterForm of={of} open={asked === 'edit'} onClose={close} />
        <Confirm
          open={asked === 'remove'} onClose={close} name={of.code} title={<Trans>Delete the meter {of.name}?</Trans>} action={<Trans>Delete meter</Trans>}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/meters/{meter}', { params: { path: { meter: of.id } } })
            await queries.invalidateQueries({ queryKey: ['meters'] })
            toast(<Trans>The meter {of.name} was deleted.</Trans>)
          }}
        >
          <p><Trans>Usage can no longer be recorded for it, and customers no longer see it. Recorded usage is kept.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}

/** The meters, and what happens at a limit. */
export default function Meters() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const [creating, setCreating] = useState(false)
  const query = { 'filter[search]': search.search, page: pageOf(search) }
  const meters = useQuery({
    queryKey: ['meters', query],
    queryFn: async () => (await api.GET('/api/v1/admin/meters', { params: { query } })).data!,
    enabled: may('meters.manage'),
    placeholderData: (before) => before,
  })
  if (!may('meters.manage')) return <NotAllowed needs={['meters.manage']} title={t`Meters`} />
  const create = <Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New meter</Trans></Button>
  return (
    <Page title={t`Meters`} lead={<Trans>Meters count how customers use your product, for limits and invoices.</Trans>} actions={meters.data?.data.length ? create : null}>
      <CatalogTabs />
      {(search.search || !!meters.data?.data.length) && <div className="toolbar"><SearchField label={t`Search by name`} /></div>}
      <Read query={meters} lines={6}>
        {(found) => found.data.length === 0
          ? <Empty icon="gauge" title={search.search ? <Trans>No meter matches “{search.search}”</Trans> : <Trans>No meters yet</Trans>} actions={search.search ? <ClearFilters /> : create}>{!search.search && <Trans>A meter adds up usage that your application records, such as API calls or storage.</Trans>}</Empty>
          : (
            <>
              <table className="table mid cards rows meter-list">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Meter</Trans></th><th scope="col"><Trans>Aggregation</Trans></th><th scope="col"><Trans>At the limit</Trans></th><th scope="col"><Trans>Unit price</Trans></th><th scope="col"><Trans>Status</Trans></th>
                    <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                  </tr>
                </thead>
                <tbody>{found.data.map((one) => <MeterRow key={one.id} of={one} />)}</tbody>
              </table>
              <Pager meta={found.meta} />
            </>
          )}
      </Read>
      <MeterForm open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
