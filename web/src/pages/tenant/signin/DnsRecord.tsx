import { Trans, useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { CopyIcon } from '../../../ui/Copy'

/** The DNS record that verifies a domain, to copy. */
export function DnsRecord({ of }: { of: Schema<'VerificationRecord'> }) {
  const { t } = useLingui()
  return (
    <dl className="record">
      <div><dt><Trans>Type</Trans></dt><dd>{of.type}</dd></div>
      <div><dt><Trans>Name</Trans></dt><dd><code>{of.name}</code><CopyIcon text={of.name} label={t`Copy the name`} /></dd></div>
      <div><dt><Trans>Value</Trans></dt><dd><code>{of.value}</code><CopyIcon text={of.value} label={t`Copy the value`} /></dd></div>
    </dl>
  )
}
