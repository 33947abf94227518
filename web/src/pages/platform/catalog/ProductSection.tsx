import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Empty } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { NewPlan } from './NewPlan'
import { PlanRow } from './PlanRow'
import { ProductForm } from './ProductForm'
import { catalogKey } from './reads'
import { nameIn } from './texts'

/** A product with its plans. */
export function ProductSection({ of }: { of: Schema<'AdminProduct'> }) {
  const { t, i18n } = useLingui()
  const may = usePlatformMay()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'edit' | 'plan' | 'remove'>()
  const close = () => setAsked(undefined)
  const params = { path: { product: of.id } }
  const turn = useMutation({
    mutationFn: () => api.PATCH('/api/v1/admin/products/{product}', { params, body: { is_active: !of.is_active } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: catalogKey }),
    onError: (error) => toast(error.message),
  })
  const name = nameIn(of.translations, i18n.locale)
  const plans = [...(of.plans ?? [])].sort((a, b) => a.sort_order - b.sort_order)
  const acts = (
    <span className="acts">
      {may('plans.create') && <Button size="s" icon="plus" onClick={() => setAsked('plan')}><Trans>New plan</Trans></Button>}
      {(may('products.update') || may('products.delete')) && (
        <More small>
          {may('products.update') && <MenuEntry icon="pencil" onClick={() => setAsked('edit')}><Trans>Edit</Trans></MenuEntry>}
          {may('products.update') && <MenuEntry icon={of.is_active ? 'minus' : 'check'} onClick={() => turn.mutate()}>{of.is_active ? <Trans>Take off sale</Trans> : <Trans>Put on sale</Trans>}</MenuEntry>}
          {may('products.delete') && <MenuLine />}
          {may('products.delete') && <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>}
        </More>
      )}
    </span>
  )
  return (
    <Section className="sec product" title={<>{name} {!of.is_active && <Status tone="off"><Trans>Off sale</Trans></Status>}</>} end={acts} lead={of.translations[i18n.locale]?.description || of.translations.en?.description}>
      {plans.length === 0
        ? <Empty slim icon="plan" title={<Trans>No plans yet</Trans>} actions={may('plans.create') && <Button look="primary" icon="plus" onClick={() => setAsked('plan')}><Trans>New plan</Trans></Button>}><Trans>A plan defines the features that customers get, and the price.</Trans></Empty>
        : (
          <table className="table mid cards rows plan-list">
            <thead>
              <tr>
                <th scope="col"><Trans>Plan</Trans></th><th scope="col"><Trans>Billing</Trans></th><th scope="col"><Trans>Prices</Trans></th><th scope="col"><Trans>Status</Trans></th>
                <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
              </tr>
            </thead>
            <tbody>{plans.map((one) => <PlanRow key={one.id} of={one} onSale={of.is_active} />)}</tbody>
          </table>
        )}
      <NewPlan product={of} open={asked === 'plan'} onClose={close} />
      <ProductForm of={of} open={asked === 'edit'} onClose={close} />
      <Confirm
        open={asked === 'remove'} onClose={close} name={name} title={<Trans>Delete {name} and its plans?</Trans>} action={<Trans>Delete product</Trans>}
        onConfirm={async () => {
          await api.DELETE('/api/v1/admin/products/{product}', { params })
          await queries.invalidateQueries({ queryKey: catalogKey })
          toast(<Trans>{name} was deleted.</Trans>)
        }}
      >
        <p><Trans>All its plans are deleted too. This cannot be undone. A product cannot be deleted while one of its plans has a subscription.</Trans></p>
      </Confirm>
    </Section>
  )
}
