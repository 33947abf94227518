import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { Button } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { catalogKey } from './catalog/reads'
import { nameIn } from './catalog/texts'
import { CatalogTabs } from './CatalogTabs'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { PackForm } from './packs/PackForm'
import { packsQuery } from './packs/reads'
import { metersQuery } from './tenant/reads'

function PackRow({ of }: { of: Schema<'AdminPack'> }) {
  const { t, i18n } = useLingui()
  const may = usePlatformMay()
  const format = useFormat()
  const queries = useQueryClient()
  const meter = useQuery({ ...metersQuery, enabled: may('meters.manage') }).data?.find((one) => one.code === of.feature_code)
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const close = () => setAsked(undefined)
  const name = nameIn(of.translations, i18n.locale)
  const amount = format.quantity(of.amount, meter?.unit_label ?? null)
  const days = of.expires_after_days
  return (
    <tr>
      <td className="k1">
        {may('plans.update') ? <button type="button" className="rowlink as-row" onClick={() => setAsked('edit')}>{name}</button> : <b>{name}</b>}
        <small><code>{of.slug}</code></small>
      </td>
      <td className="k2">{amount} · {meter?.name ?? of.feature_code}</td>
      <td className="k3" data-l={t`Price`}>{of.prices.map((one) => <span key={one.currency} className="word">{format.money(one.price_cents, one.currency)}</span>)}</td>
      <td className="k4" data-l={t`Expires`}>{days === null ? <Trans>Never</Trans> : plural(days, { one: 'After # day', other: 'After # days' })}</td>
      <td className="k5">{of.is_active ? <Status tone="good"><Trans>On sale</Trans></Status> : <Status tone="off"><Trans>Not on sale</Trans></Status>}</td>
      <td className="acts-cell">
        {(may('plans.update') || may('plans.delete')) && (
          <More small label={t`More actions for ${name}`}>
            {may('plans.update') && <MenuEntry icon="pencil" onClick={() => setAsked('edit')}><Trans>Edit</Trans></MenuEntry>}
            {may('plans.delete') && <MenuLine />}
            {may('plans.delete') && <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>}
          </More>
        )}
        <PackForm of={of} open={asked === 'edit'} onClose={close} />
        <Confirm
          open={asked === 'remove'} onClose={close} title={<Trans>Delete the pack {name}?</Trans>} action={<Trans>Delete pack</Trans>}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/packs/{pack}', { params: { path: { pack: of.id } } })
            await queries.invalidateQueries({ queryKey: catalogKey })
            toast(<Trans>The pack {name} was deleted.</Trans>)
          }}
        >
          <p><Trans>Customers can no longer buy it. Units that they have bought stay.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}

/** The packs of prepaid units that customers can buy. */
export default function Packs() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const [creating, setCreating] = useState(false)
  const packs = useQuery({ ...packsQuery({ page: pageOf(search) }), enabled: may('plans.view') })
  if (!may('plans.view')) return <NotAllowed needs={['plans.view']} title={t`Packs`} />
  const create = may('plans.create') && <Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New pack</Trans></Button>
  return (
    <Page title={t`Packs`} lead={<Trans>Prepaid units of a meter, for customers who need more than their plan includes.</Trans>} actions={packs.data?.data.length ? create : null}>
      <CatalogTabs />
      <Read query={packs} lines={5}>
        {(found) => found.data.length === 0
          ? <Empty icon="box" title={<Trans>No packs yet</Trans>} actions={create}><Trans>Customers use the units of a pack once they reach a limit of their plan. They pay for a pack once.</Trans></Empty>
          : (
            <>
              <table className="table mid cards rows pack-list">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Pack</Trans></th><th scope="col"><Trans>Units</Trans></th><th scope="col"><Trans>Price</Trans></th><th scope="col"><Trans>Expires</Trans></th><th scope="col"><Trans>Status</Trans></th>
                    <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                  </tr>
                </thead>
                <tbody>{found.data.map((one) => <PackRow key={one.id} of={one} />)}</tbody>
              </table>
              <Pager meta={found.meta} />
            </>
          )}
      </Read>
      <PackForm open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
