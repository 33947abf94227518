import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Button } from '../../ui/Button'
import { Confirm } from '../../ui/Confirm'
import { Copy } from '../../ui/Copy'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { usePlanActions } from './catalog/planActions'
import { currenciesQuery, planQuery } from './catalog/reads'
import { nameIn } from './catalog/texts'
import { everyWord, pricingWord } from './catalog/words'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { Editor } from './plan/Editor'

/** The editor of a plan, with its preview next to it. */
export default function PlanEditor() {
  const { t, i18n } = useLingui()
  const { planId } = useParams({ from: '/signed-in/platform/catalog/plans/$planId' })
  const may = usePlatformMay()
  const plan = useQuery({ ...planQuery(planId), enabled: may('plans.view'), refetchOnWindowFocus: false })
  const currencies = useQuery(currenciesQuery)
  const [round, setRound] = useState(0)
  if (!may('plans.view')) return <NotAllowed needs={['plans.view']} title={t`Plan`} />
  return (
    <Page title={plan.data ? nameIn(plan.data.translations, i18n.locale) : t`Plan`} heading={null}>
      <Read query={plan} lines={9}>
        {(of) => (
          <>
            <Header of={of} />
            {!currencies.isPending && <Editor key={`${of.id} ${round}`} plan={of} onDiscard={() => setRound(round + 1)} />}
          </>
        )}
      </Read>
    </Page>
  )
}

function Header({ of }: { of: Schema<'AdminPlan'> }) {
  const { i18n } = useLingui()
  const navigate = useNavigate()
  const may = usePlatformMay()
  const { duplicate, turn, remove, reload } = usePlanActions(of)
  const [removing, setRemoving] = useState(false)
  const name = nameIn(of.translations, i18n.locale)
  const [every, pricing] = [everyWord(of), pricingWord(of.pricing_type)]
  return (
    <div className="ent">
      <div className="grow0">
        <h1>{name} {of.is_active ? <Status tone="good"><Trans>On sale</Trans></Status> : <Status tone="off"><Trans>Off sale</Trans></Status>}</h1>
        <p><Trans>Billed {every}, {pricing}.</Trans> <Copy text={of.slug} whole /></p>
      </div>
      <div className="acts">
        {may('plans.create') && <Button icon="copy" busy={duplicate.isPending} onClick={() => duplicate.mutate()}><Trans>Duplicate</Trans></Button>}
        {(may('plans.update') || may('plans.delete')) && (
          <More>
            {may('plans.update') && <MenuEntry icon={of.is_active ? 'minus' : 'check'} onClick={() => turn.mutate(!of.is_active)}>{of.is_active ? <Trans>Take off sale</Trans> : <Trans>Put on sale</Trans>}</MenuEntry>}
            {may('plans.delete') && <MenuLine />}
            {may('plans.delete') && <MenuEntry icon="x" danger onClick={() => setRemoving(true)}><Trans>Delete</Trans></MenuEntry>}
          </More>
        )}
      </div>
      <Confirm
        open={removing} onClose={() => setRemoving(false)} title={<Trans>Delete the plan {name}?</Trans>} action={<Trans>Delete plan</Trans>}
        onConfirm={async () => {
          await remove()
          await navigate({ to: '/platform/catalog' })
          await reload()
          toast(<Trans>The plan {name} was deleted.</Trans>)
        }}
      >
        <p><Trans>It can no longer be bought, and this cannot be undone. A plan with subscriptions cannot be deleted: take it off sale instead.</Trans></p>
      </Confirm>
    </div>
  )
}
