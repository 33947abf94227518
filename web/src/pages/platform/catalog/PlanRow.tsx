import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Confirm } from '../../../ui/Confirm'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { usePlanActions } from './planActions'
import { nameIn } from './texts'
import { everyWord, pricingWord } from './words'

/** A plan in its product's list. */
export function PlanRow({ of, onSale }: { of: Schema<'AdminPlan'>; onSale: boolean }) {
  const { t, i18n } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const { duplicate, turn, remove, reload } = usePlanActions(of)
  const [removing, setRemoving] = useState(false)
  const name = nameIn(of.translations, i18n.locale)
  return (
    <tr>
      <td className="k1"><Link className="rowlink" to="/platform/catalog/plans/$planId" params={{ planId: of.id }}>{name}</Link><small><code>{of.slug}</code></small></td>
      <td className="k2">{everyWord(of)}, {pricingWord(of.pricing_type)}</td>
      <td className="k3" data-l={t`Prices`}>
        {of.prices.length === 0 ? <span className="st warn"><Trans>No price yet</Trans></span> : format.list(of.prices.map((one) => format.money(one.price_cents, one.currency)))}
      </td>
      <td className="k4">{of.is_active && onSale ? <Status tone="good"><Trans>On sale</Trans></Status> : <Status tone="off"><Trans>Off sale</Trans></Status>}</td>
      <td className="acts-cell">
        <More small>
          {may('plans.create') && <MenuEntry icon="copy" onClick={() => duplicate.mutate()}><Trans>Duplicate</Trans></MenuEntry>}
          {may('plans.update') && <MenuEntry icon={of.is_active ? 'minus' : 'check'} onClick={() => turn.mutate(!of.is_active)}>{of.is_active ? <Trans>Take off sale</Trans> : <Trans>Put on sale</Trans>}</MenuEntry>}
          {may('plans.delete') && <MenuLine />}
          {may('plans.delete') && <MenuEntry icon="x" danger onClick={() => setRemoving(true)}><Trans>Delete</Trans></MenuEntry>}
        </More>
        <Confirm
          open={removing} onClose={() => setRemoving(false)} title={<Trans>Delete the plan {name}?</Trans>} action={<Trans>Delete plan</Trans>}
          onConfirm={async () => { await remove(); await reload(); toast(<Trans>The plan {name} was deleted.</Trans>) }}
        >
          <p><Trans>It can no longer be bought, and this cannot be undone. A plan with subscriptions cannot be deleted: take it off sale instead.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}
