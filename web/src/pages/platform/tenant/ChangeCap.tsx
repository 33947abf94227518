import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { useLimited, type Limited } from './limits'
import { fieldError, useSaved } from './useSaved'

interface Props {
  tenant: Schema<'AdminTenant'>
  /** The code of the meter. */
  feature?: string
  open: boolean
  onClose: () => void
}

/** Sets or removes the customer's own cap of a meter. */
export function ChangeCap({ tenant, feature, open, onClose }: Props) {
  const { counted } = useLimited(tenant.id, open)
  const of = counted.find((one) => one.code === feature)
  const name = of?.name ?? ''
  return <Dialog open={open && !!of} onClose={onClose} title={<Trans>Cap for {name}</Trans>}>{of && <Body of={of} tenant={tenant} onClose={onClose} />}</Dialog>
}

function Body({ of, tenant, onClose }: { of: Limited; tenant: Schema<'AdminTenant'>; onClose: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const cap = of.quota?.cap ?? null
  const [text, setText] = useState(cap === null ? '' : format.number(cap))
  const wanted = format.parse(text)
  const { name } = of
  const used = format.quantity(of.quota?.current_usage ?? 0, of.unit)
  const below = wanted !== undefined && wanted < (of.quota?.current_usage ?? 0)

  async function put(limit: number | null) {
    await api.PUT('/api/v1/admin/tenants/{tenant}/usage/{meterCode}/cap', { params: { path: { tenant: tenant.id, meterCode: of.code } }, body: { limit } })
    const amount = limit === null ? '' : format.quantity(limit, of.unit)
    await saved(limit === null ? <Trans>The cap of {name} was removed.</Trans> : <Trans>{name} is now capped at {amount}.</Trans>)
  }
  return (
    <Form
      className="stack"
      onSubmit={async () => {
        if (text.trim() === '' && cap !== null) return put(null)
        if (wanted === undefined) throw fieldError('limit', t`Enter a whole number, such as 5,000.`)
        await put(wanted)
      }}
    >
      {({ busy }) => (
        <>
          <p className="flat"><Trans>A cap is the customer’s own limit. It counts all usage of the period, and usage over it is rejected.</Trans></p>
          <TextField name="limit" label={t`Cap`} inputMode="numeric" autoComplete="off" value={text} placeholder={t`No cap`} onChange={(event) => setText(event.target.value)} help={<Trans>Used so far: {used}.</Trans>} data-autofocus />
          {below && <p className="outcome" role="status"><Trans>The usage is already above this cap. More usage is rejected.</Trans></p>}
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}>{text.trim() === '' && cap !== null ? <Trans>Remove cap</Trans> : <Trans>Save cap</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
