import { Trans } from '@lingui/react/macro'
import { useTenant } from '../../../app/session'
import { BillingFields, billingOf } from '../../../parts/BillingFields'
import { Button } from '../../../ui/Button'
import { Form } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { useSave } from './useSave'

/** The billing details on invoices. */
export function BillingForm() {
  const tenant = useTenant()
  const save = useSave()
  return (
    <Form className="stack form" guard onSubmit={(values) => save(billingOf(values))}>
      {({ busy, changed }) => (
        <>
          {!tenant.has_billing_details && (
            <Note tone="warn" title={<Trans>Some details are missing</Trans>}><Trans>A legal name and a complete address are required before you can buy a plan.</Trans></Note>
          )}
          <BillingFields details={tenant} />
          <div className="acts"><Button type="submit" look="primary" busy={busy} disabled={!changed}><Trans>Save billing details</Trans></Button></div>
        </>
      )}
    </Form>
  )
}
