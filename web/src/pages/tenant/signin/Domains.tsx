import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, ApiError } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Locked, Setting } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh } from '../shared/reads'
import { DomainRow } from './DomainRow'
import { useDomains, useMissingPlan } from './reads'

/** The domains of the organization, and a field to add one. */
export function Domains({ off }: { off: boolean }) {
  const domains = useDomains()
  const missing = useMissingPlan()
  return (
    <Setting off={off} id="domains" title={<Trans>Verified domains</Trans>} lead={<Trans>Verify a domain to use SSO and to let people with its addresses join on their own.</Trans>}>
      <Read query={domains}>
        {({ data }) => (
          <div>
            {data.length > 0 && <ul className="items marks domains">{data.map((one) => <DomainRow key={one.id} of={one} fixed={missing !== null} />)}</ul>}
            {missing === null ? <AddDomain /> : data.length === 0 && <Locked><Trans>Domains are part of the {missing} plan.</Trans></Locked>}
          </div>
        )}
      </Read>
    </Setting>
  )
}

function AddDomain() {
  const { t } = useLingui()
  const here = useHere()
  const refresh = useRefresh()
  const [round, setRound] = useState(0)

  async function add(values: Values) {
    const domain = String(values.domain).trim()
    try {
      await api.POST('/api/v1/tenant/{tenantId}/domains', { ...here, body: { domain } })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'DOMAIN_TAKEN') {
        const message = t`Another organization has verified this domain. Contact support if it belongs to you.`
        throw new ApiError(422, message, error.code, { domain: [message] })
      }
      throw error
    }
    await refresh('/domains', '/audit-logs')
    setRound(round + 1)
    toast(t`${domain} was added. Add its record to your DNS.`)
  }
  return (
    <Form key={round} className="stack tight" onSubmit={add}>
      {({ busy }) => (
        <div className="setting-foot add-domain">
          <TextField name="domain" label={<span className="sr"><Trans>Domain</Trans></span>} placeholder="example.com" autoCapitalize="none" autoComplete="off" spellCheck={false} inputMode="url" />
          <Button type="submit" busy={busy}><Trans>Add domain</Trans></Button>
        </div>
      )}
    </Form>
  )
}
