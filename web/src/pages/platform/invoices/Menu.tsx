import { Trans, useLingui } from '@lingui/react/macro'
import { address } from '../../../api/client'
import { MenuEntry, MenuLine, More } from '../../../ui/Menu'
import { toast } from '../../../ui/Toast'
import type { InvoiceRow } from '../lists/reads'
import { usePlatformMay } from '../may'
import type { Ask } from './Dialogs'
import { isCreditable } from './words'

/** The actions of an invoice, by its status. */
export function InvoiceMenu({ of, onAsk }: { of: InvoiceRow; onAsk: (dialog: Ask['dialog'], of: InvoiceRow) => void }) {
  const { t } = useLingui()
  const may = usePlatformMay()
  const { number } = of
  const link = of.payment_action?.url
  const open = of.status === 'open'
  const copy = (text: string, done: React.ReactNode) => void navigator.clipboard.writeText(text).then(() => toast(done))
  const voidable = (open || of.status === 'draft') && may('tenants.manage')
  return (
    <More small label={t`Actions for invoice ${number}`}>
      {open && may('subscriptions.manage') && of.payment_action?.type !== 'confirm' && <MenuEntry icon="card" onClick={() => onAsk('charge', of)}><Trans>Charge invoice</Trans></MenuEntry>}
      {open && may('subscriptions.manage') && <MenuEntry icon="check" onClick={() => onAsk('paid', of)}><Trans>Record payment</Trans></MenuEntry>}
      {open && link && <MenuEntry icon="link" onClick={() => copy(link, <Trans>The payment link was copied.</Trans>)}><Trans>Copy payment link</Trans></MenuEntry>}
      {isCreditable(of) && may('billing.credit') && (
        <MenuEntry icon={open ? 'receipt' : 'undo'} onClick={() => onAsk('note', of)}>{open ? <Trans>Create credit note</Trans> : <Trans>Refund or credit</Trans>}</MenuEntry>
      )}
      {of.pdf_url && <MenuEntry icon="download" href={address(`/api/v1/admin/tenants/${of.tenant_id}/invoices/${of.id}/pdf`)} download={`${number}.pdf`}><Trans>Download PDF</Trans></MenuEntry>}
      <MenuEntry icon="copy" onClick={() => copy(of.id, <Trans>The invoice ID was copied.</Trans>)}><Trans>Copy invoice ID</Trans></MenuEntry>
      {voidable && <MenuLine />}
      {voidable && <MenuEntry icon="x" danger onClick={() => onAsk('void', of)}><Trans>Void invoice</Trans></MenuEntry>}
    </More>
  )
}
