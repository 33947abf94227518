import { Trans } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../../api/client'
import { Confirm } from '../../../ui/Confirm'
import { toast } from '../../../ui/Toast'
import { ActAs } from './ActAs'
import type { Asked } from './asked'
import { ChangePlan } from './ChangePlan'
import { ChangePrice } from './ChangePrice'
import { CancelSubscription } from './CancelSubscription'
import { ChangeCap } from './ChangeCap'
import { ChangeLimit } from './ChangeLimit'
import { EditTenant } from './Details'
import { ExtendTrial } from './ExtendTrial'
import { GiveCredit } from './GiveCredit'
import { GrantUnits } from './GrantUnits'
import { currentOf } from './MoneyFacts'
import { subscriptionsQuery } from './reads'
import { MarkPaid } from './MarkPaid'
import { PayInvoice } from './PayInvoice'
import { AddCode, RemoveCode } from './PromotionCode'
import { ResumeSubscription } from './ResumeSubscription'
import { VoidInvoice } from './VoidInvoice'

/** The dialogs of a tenant's actions. At most one is open. */
export function Dialogs({ of, asked, onClose }: { of: Schema<'AdminTenant'>; asked: Asked; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const current = currentOf(useQuery(subscriptionsQuery(of.id)).data ?? [])
  const dialog = asked?.dialog
  const feature = asked && 'feature' in asked ? asked.feature : undefined
  return (
    <>
      <EditTenant of={of} open={dialog === 'edit'} onClose={onClose} />
      <MarkPaid tenant={of} open={dialog === 'paid'} onClose={onClose} />
      {current && <AddCode of={current} tenant={of} open={dialog === 'code'} onClose={onClose} />}
      {current && <RemoveCode of={current} tenant={of} open={dialog === 'uncode'} onClose={onClose} />}
      <PayInvoice tenant={of} open={dialog === 'charge'} onClose={onClose} />
      <VoidInvoice tenant={of} open={dialog === 'void'} onClose={onClose} />
      {current && <CancelSubscription of={current} tenant={of} open={dialog === 'cancel'} onClose={onClose} />}
      {current && <ExtendTrial of={current} tenant={of} open={dialog === 'trial'} onClose={onClose} />}
      {current && <ChangePlan of={current} tenant={of} open={dialog === 'change'} onClose={onClose} />}
      {current && <ChangePrice of={current} tenant={of} open={dialog === 'price'} onClose={onClose} />}
      {current && <ResumeSubscription of={current} tenant={of} open={dialog === 'resume'} onClose={onClose} />}
      <ActAs tenant={of} member={asked && 'member' in asked ? asked.member : undefined} open={dialog === 'act'} onClose={onClose} />
      <GiveCredit tenant={of} open={dialog === 'credit'} onClose={onClose} />
      <ChangeLimit tenant={of} feature={feature} open={dialog === 'limit'} onClose={onClose} />
      <ChangeCap tenant={of} feature={feature} open={dialog === 'cap'} onClose={onClose} />
      <GrantUnits tenant={of} feature={feature} open={dialog === 'grant'} onClose={onClose} />
      <Confirm
        open={dialog === 'dissolve'} onClose={onClose} name={of.name} title={<Trans>Delete {of.name}?</Trans>} action={<Trans>Delete tenant</Trans>}
        onConfirm={async () => {
          await api.DELETE('/api/v1/admin/tenants/{tenant}', { params: { path: { tenant: of.id } } })
          await navigate({ to: '/platform/tenants' })
          await queries.invalidateQueries({ queryKey: ['tenants'] })
          toast(<Trans>{of.name} was deleted.</Trans>)
        }}
      >
        <p><Trans>Its roles and invitations are deleted too. It cannot be restored.</Trans></p>
      </Confirm>
    </>
  )
}
