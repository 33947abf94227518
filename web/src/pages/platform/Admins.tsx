import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { useMe } from '../../app/session'
import { Copy } from '../../ui/Copy'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Avatar, MfaCell } from '../../ui/People'
import { Read } from '../../ui/Read'
import { When } from '../../ui/When'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { SettingsTabs } from './settings/SettingsTabs'

/** The permissions of an admin, in a list that opens. */
function Permissions({ of, all }: { of: string[]; all: number }) {
  if (of.length === 0) return <span className="faint"><Trans>None</Trans></span>
  return (
    <details className="attempts permissions">
      <summary>{of.length >= all ? <Trans context="permissions">All ({all})</Trans> : <Plural value={of.length} one="# permission" other="# permissions" />}</summary>
      <ul>{of.toSorted().map((one) => <li key={one}><code>{one}</code></li>)}</ul>
    </details>
  )
}

/** The platform admins, for reading: permissions are granted where the service runs. */
export default function Admins() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const { user } = useMe()
  const [search] = useFilters()
  const page = pageOf(search)
  const admins = useQuery({
    queryKey: ['admins', page],
    queryFn: async () => (await api.GET('/api/v1/admin/users', { params: { query: { 'filter[platform_admin]': true, sort: ['name'], page } } })).data!,
    enabled: may('tenants.view'),
    placeholderData: keepPreviousData,
  })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Platform admins`} />
  return (
    <Page title={t`Platform admins`} heading={t`Settings`} lead={<Trans>People who run this service, with their permissions.</Trans>}>
      <SettingsTabs />
      <Read query={admins} lines={4}>
        {({ data, meta }) => {
          const all = Math.max(...data.map((one) => one.permissions?.length ?? 0), 1)
          return (
            <>
              <table className="table mid cards rows admins">
                <thead><tr><th scope="col"><Trans>Name</Trans></th><th scope="col"><Trans>Permissions</Trans></th><th scope="col"><Trans>MFA</Trans></th><th scope="col"><Trans>Last sign-in</Trans></th></tr></thead>
                <tbody>
                  {data.map((one) => (
                    <tr key={one.id}>
                      <td className="k1"><span className="person"><Avatar name={one.name} /><span><b>{one.name}{one.id === user.id && <> <span className="tag"><Trans>You</Trans></span></>}</b><small>{one.email}</small></span></span></td>
                      <td className="k2"><Permissions of={one.permissions ?? []} all={all} /></td>
                      <MfaCell on={one.mfa_enabled} />
                      <td className="k4" data-l={t`Last sign-in`}>{one.last_login_at ? <When at={one.last_login_at} /> : <span className="faint"><Trans>Never</Trans></span>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <Pager meta={meta} />
            </>
          )
        }}
      </Read>
      <section className="sec">
        <div className="sec-head"><h2><Trans>Change permissions</Trans></h2><p><Trans>Admins and their permissions are managed with the command line where the service runs, not in the console.</Trans></p></div>
        <ul className="list commands">
          <li><span><Trans>Create an admin</Trans></span><Copy whole text="tenantry admin create --name NAME --email EMAIL" /></li>
          <li><span><Trans>Set the permissions</Trans></span><Copy whole text="tenantry admin grant --email EMAIL --permissions tenants.view,logs.view" /></li>
        </ul>
      </section>
    </Page>
  )
}
