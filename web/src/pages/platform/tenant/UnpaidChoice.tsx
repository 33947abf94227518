import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../../app/format'
import { SelectField } from '../../../ui/Field'
import { Read } from '../../../ui/Read'
import { invoicesWith } from './invoices'

/** Selects one of a tenant's invoices with a status. */
export function UnpaidChoice({ tenant, status }: { tenant: string; status: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const invoices = useQuery(invoicesWith(tenant, status))
  return (
    <Read query={invoices} lines={2}>
      {({ data }) => data.length === 0
        ? <p className="flat"><Trans>All invoices are paid.</Trans></p>
        : (
            <SelectField name="invoice" label={t`Invoice`} data-autofocus>
              {data.map((one) => {
                const [number, sum] = [one.number, format.sum(one.amount_due)]
                return <option key={one.id} value={one.id}>{t`${number}, ${sum}`}</option>
              })}
            </SelectField>
          )}
    </Read>
  )
}
