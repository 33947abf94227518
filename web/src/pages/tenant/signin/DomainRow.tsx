import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Icon } from '../../../ui/Icon'
import { MenuEntry, More } from '../../../ui/Menu'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { Day, When } from '../../../ui/When'
import { useHere, useRefresh } from '../shared/reads'
import { JoinForm } from './JoinForm'
import { DnsRecord } from './DnsRecord'

/** A domain: its status, its record until it is verified, and who joins through it. */
export function DomainRow({ of, fixed }: { of: Schema<'TenantDomain'>; fixed: boolean }) {
  const { t } = useLingui()
  const { params: { path: { tenantId } } } = useHere()
  const refresh = useRefresh()
  const [deleting, setDeleting] = useState(false)
  const params = { path: { tenantId, domain: of.id } }
  const verify = useMutation({
    mutationFn: () => api.POST('/api/v1/tenant/{tenantId}/domains/{domain}/verify', { params }),
    onSuccess: () => toast(t`${of.domain} is verified`),
    onSettled: () => refresh('/domains', '/sso', '/audit-logs'),
  })

  async function remove() {
    await api.DELETE('/api/v1/tenant/{tenantId}/domains/{domain}', { params })
    await refresh('/domains', '/sso', '/audit-logs')
    toast(t`${of.domain} was deleted`)
  }
  const error = verify.error instanceof ApiError ? verify.error : undefined
  const problem = error && (error.code === 'DOMAIN_TAKEN' ? t`Another organization has verified this domain. Contact support if it belongs to you.`
    : error.status === 0 ? t`We could not reach the service. Try again in a moment.` : error.message)
  const verified = of.status === 'verified'
  return (
    <li>
      <Icon name="globe" />
      <div className="what">
        <div className="nm">
          <b>{of.domain}</b>
          {verified ? <Status tone="good"><Trans>Verified</Trans></Status> : of.status === 'lost' ? <Status tone="warn"><Trans context="a domain">Lost</Trans></Status> : <Status tone="wait"><Trans>Pending</Trans></Status>}
        </div>
        {problem && !verify.isPending ? <p className="error" role="alert"><Icon name="alert" /><span>{problem}</span></p>
          : verified ? (
              <p>
                {of.verified_at && <Trans>Since <Day at={of.verified_at} />. Checked daily.</Trans>}{' '}
                {of.failed_checks > 0 && <Plural value={of.failed_checks} one="The record was missing at the last check." other="The record was missing at the last # checks. After three, the domain is lost." />}
              </p>
            )
          : <p>{of.status === 'lost' ? <Trans>The TXT record was missing on three days in a row. Members keep access, but new people can’t join with this domain.</Trans> : <Trans>Add this record to your DNS. Changes can take up to 24 hours.</Trans>}</p>}
      </div>
      <div className="do">
        {!verified && !fixed && <Button size="s" busy={verify.isPending} onClick={() => verify.mutate()}>{of.status === 'lost' ? <Trans>Verify again</Trans> : <Trans>Check now</Trans>}</Button>}
        <More small label={t`More for ${of.domain}`}><MenuEntry icon="x" danger onClick={() => setDeleting(true)}><Trans>Delete domain</Trans></MenuEntry></More>
        <Confirm open={deleting} onClose={() => setDeleting(false)} onConfirm={remove} title={<Trans>Delete {of.domain}?</Trans>} action={<Trans>Delete domain</Trans>}>
          <p><Trans>New people can’t join with its addresses, and SSO no longer accepts them. Members keep access. To use the domain again, verify it again.</Trans></p>
        </Confirm>
      </div>
      {verified
        ? !fixed && <JoinForm key={`${of.auto_join} ${of.role}`} of={of} />
        : (
            <div className="more">
              <DnsRecord of={of.verification_record} />
              {of.last_checked_at && !problem && of.status === 'pending' && <p className="help"><Trans>Last checked <When at={of.last_checked_at} />: no TXT record found.</Trans></p>}
            </div>
          )}
    </li>
  )
}
