import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { Button, ButtonLink } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Confirm } from '../../ui/Confirm'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { catalogKey } from './catalog/reads'
import { nameIn } from './catalog/texts'
import { DiscountForm } from './discounts/DiscountForm'
import { EditDiscount, usePlanNames } from './discounts/EditDiscount'
import { discountsQuery } from './discounts/reads'
import { useDiscountWords } from './discounts/words'
import { CatalogTabs } from './CatalogTabs'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

function Row({ of }: { of: Schema<'AdminDiscount'> }) {
  const { t, i18n } = useLingui()
  const may = usePlatformMay()
  const words = useDiscountWords()
  const queries = useQueryClient()
  const plans = usePlanNames(of.plan_ids)
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const close = () => setAsked(undefined)
  const params = { path: { discount: of.id } }
  const reload = () => queries.invalidateQueries({ queryKey: catalogKey })
  const turn = useMutation({
    mutationFn: () => api.PATCH('/api/v1/admin/discounts/{discount}', { params, body: { is_active: !of.is_active } }),
    onSuccess: async () => { await reload(); toast(of.is_active ? <Trans>{of.code} is now inactive.</Trans> : <Trans>{of.code} is now active.</Trans>) },
    onError: (error) => toast(error.message),
  })
  const [tone, state] = words.state(of)
  return (
    <tr>
      <td className="k1">
        {may('plans.update') ? <button type="button" className="rowlink as-row mono" onClick={() => setAsked('edit')}>{of.code}</button> : <b className="mono">{of.code}</b>}
        <small>{nameIn(of.translations, i18n.locale)}</small>
      </td>
      <td className="k2">{words.off(of)}<small>{words.lasts(of)}</small></td>
      <td className="k3" data-l={t`Plans`}>{plans ?? <Trans>All plans</Trans>}{of.first_purchase_only && <small><Trans>First purchase only</Trans></small>}</td>
      <td className="k4" data-l={t`Valid`}>{words.valid(of)}</td>
      <td className="k5 num" data-l={t`Redeemed`}>{words.redeemed(of)}</td>
      <td className="k6"><Status tone={tone}>{state}</Status></td>
      <td className="acts-cell">
        {(may('plans.update') || may('plans.delete')) && (
          <More small label={t`More actions for ${of.code}`}>
            {may('plans.update') && <MenuEntry icon="pencil" onClick={() => setAsked('edit')}><Trans>Edit</Trans></MenuEntry>}
            {may('plans.update') && <MenuEntry icon={of.is_active ? 'minus' : 'check'} onClick={() => turn.mutate()}>{of.is_active ? <Trans>Deactivate</Trans> : <Trans>Activate</Trans>}</MenuEntry>}
            {may('plans.delete') && <MenuLine />}
            {may('plans.delete') && <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>}
          </More>
        )}
        <EditDiscount of={of} open={asked === 'edit'} onClose={close} />
        <Confirm
          open={asked === 'remove'} onClose={close} title={<Trans>Delete the promotion code {of.code}?</Trans>} action={<Trans>Delete promotion code</Trans>}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/discounts/{discount}', { params })
            await reload()
            toast(<Trans>The promotion code {of.code} was deleted.</Trans>)
          }}
        >
          <p><Trans>Customers can no longer use it, and the code can be given to another discount. Subscriptions keep the discount that they have.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}

/** The promotion codes, with their discounts and redemptions. */
export default function Discounts() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const [creating, setCreating] = useState(false)
  const code = search.code?.trim() || undefined
  const active = search.show === 'active' ? true : search.show === 'inactive' ? false : undefined
  const discounts = useQuery({ ...discountsQuery({ code, active, page: pageOf(search) }), enabled: may('plans.view') })
  if (!may('plans.view')) return <NotAllowed needs={['plans.view']} title={t`Promotion codes`} />
  const filtered = code !== undefined || active !== undefined
  const create = may('plans.create') && <Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New code</Trans></Button>
  const states = [{ value: 'all', label: t({ message: 'All', context: 'codes' }) }, { value: 'active', label: t({ message: 'Active', context: 'codes' }) }, { value: 'inactive', label: t({ message: 'Inactive', context: 'codes' }) }]
  return (
    <Page title={t`Promotion codes`} lead={<Trans>Discounts that customers get by entering a code at checkout or later.</Trans>} actions={filtered || discounts.data?.data.length ? create : null}>
      <CatalogTabs />
      <Read query={discounts} lines={6}>
        {(found) => (
          <>
            {(filtered || found.data.length > 0) && <div className="toolbar"><SearchField name="code" label={t`Find a code`} /><Chips name="show" label={t`Status`} value={search.show} options={states} /></div>}
            {found.data.length > 0
              ? (
                  <>
                    <table className="table mid cards rows code-list">
                      <thead>
                        <tr>
                          <th scope="col"><Trans>Code</Trans></th><th scope="col"><Trans>Discount</Trans></th><th scope="col"><Trans>Plans</Trans></th><th scope="col"><Trans>Valid</Trans></th>
                          <th scope="col" className="num"><Trans>Redeemed</Trans></th><th scope="col"><Trans>Status</Trans></th><th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                        </tr>
                      </thead>
                      <tbody>{found.data.map((one) => <Row key={one.id} of={one} />)}</tbody>
                    </table>
                    <Pager meta={found.meta} />
                  </>
                )
              : filtered
                ? <Empty slim icon="coin" title={<Trans>No promotion codes match these filters</Trans>} actions={<ButtonLink to="/platform/catalog/codes"><Trans>Clear filters</Trans></ButtonLink>}><Trans>Enter the whole code, in any case.</Trans></Empty>
                : <Empty icon="coin" title={<Trans>No promotion codes yet</Trans>} actions={create}><Trans>A promotion code lowers the price of a plan: once, for some months, or permanently. Customers enter it when they buy.</Trans></Empty>}
          </>
        )}
      </Read>
      <DiscountForm open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
