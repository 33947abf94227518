import { Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, type Schema } from '../../../api/client'
import { pageOf, useFilters } from '../../../app/filters'
import { ButtonLink } from '../../../ui/Button'
import { Copy } from '../../../ui/Copy'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { Status } from '../../../ui/Status'
import { When } from '../../../ui/When'
import { usePlatformMay } from '../may'
import { oneQuery } from '../tenant/reads'
import { usePerson } from './entries'
import { LogFilters, useLogFilters } from './LogFilters'

/** The impersonated user and the tenant by name. Entries only contain IDs. */
function Impersonated({ of }: { of: Schema<'ImpersonationRecord'> }) {
  const person = usePerson(of.tenant_id)
  const may = usePlatformMay()
  const tenant = useQuery({ ...oneQuery(of.tenant_id), enabled: may('tenants.view') }).data
  return <>{person(of.impersonated_id)} · <Link to="/platform/tenants/$tenantId" params={{ tenantId: of.tenant_id }}>{tenant?.name ?? <Trans>Tenant</Trans>}</Link></>
}

/** The impersonation log: the admin, the user, the times and the address. */
export function ActingList() {
  const { t } = useLingui()
  const person = usePerson()
  const [search] = useFilters()
  const params = useLogFilters()
  const filtered = Object.values(params).some((one) => one !== undefined)
  const query = { ...params, page: pageOf(search) }
  const log = useQuery({
    queryKey: ['impersonations', query],
    queryFn: async () => (await api.GET('/api/v1/admin/impersonation/logs', { params: { query } })).data!,
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <LogFilters path="/api/v1/admin/impersonation/logs" params={params} />
      <Read query={log} lines={7}>
        {(found) => found.data.length === 0
          ? filtered ? <Empty slim icon="eye" title={<Trans>No results for these filters</Trans>} actions={<ButtonLink to="." search={{ view: 'acting' } as never}><Trans>Clear filters</Trans></ButtonLink>} /> : <Empty slim icon="eye" title={<Trans>No admin has acted as a customer yet</Trans>}><Trans>The start and end of each session in which someone acts as another user.</Trans></Empty>
          : (
            <>
              <table className="table mid cards rows">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Who</Trans></th><th scope="col"><Trans>Acted as</Trans></th><th scope="col"><Trans>Action</Trans></th><th scope="col"><Trans>IP address</Trans></th><th scope="col"><Trans>When</Trans></th>
                  </tr>
                </thead>
                <tbody>
                  {found.data.map((one) => (
                    <tr key={one.id}>
                      <td className="k1"><b>{person(one.impersonator_id)}</b></td>
                      <td className="k2" data-l={t`Acted as`}><Impersonated of={one} />{one.reason && <small className="break">{one.reason}</small>}</td>
                      <td className="k3">{one.action === 'started' ? <><Status tone="wait"><Trans>Started</Trans></Status>{one.read_only && <small><Trans>View only</Trans></small>}</> : <Status tone="off"><Trans>Stopped</Trans></Status>}</td>
                      <td className="k4">{one.ip_address ? <Copy text={one.ip_address} whole /> : <span className="faint"><Trans>Automatically</Trans></span>}</td>
                      <td className="k5 muted"><When at={one.created_at} /></td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <Pager meta={found.meta} />
            </>
          )}
      </Read>
    </>
  )
}
