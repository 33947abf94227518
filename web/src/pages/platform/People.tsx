import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { roleWord } from '../../app/roles'
import { ButtonLink } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Avatar, MfaCell } from '../../ui/People'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { SortHead } from '../../ui/SortHead'
import { Status } from '../../ui/Status'
import { When } from '../../ui/When'
import { listQuery, type Params, type UserRow } from './lists/reads'
import { ExportCsv } from './lists/ExportCsv'
import { ChoiceFilter, Filters, FlagFilter } from './lists/Filters'
import { filterParams, filtersIn, placeOf, soughtIn, type Search } from './lists/place'
import { RowsPager } from './lists/RowsPager'
import { PhoneSort } from './lists/Sorts'
import { TenantFilter } from './lists/TenantFilter'
import { useListKeys } from './lists/useListKeys'
import { Views } from './lists/Views'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

const paramsOf = (search: Search): Params => filterParams({
  search: soughtIn(search), tenant: search.tenant, mfa: search.mfa && String(search.mfa === 'on'), without_tenant: search.alone === '1' ? 'true' : undefined, platform_admin: search.admins === '1' ? 'true' : undefined,
})

function Row({ of }: { of: UserRow }) {
  const { t } = useLingui()
  const format = useFormat()
  const { tenant } = of
  return (
    <tr>
      <td className="k1">
        <span className="person">
          <Avatar name={of.name} />
          <span><b>{tenant ? <Link className="rowlink" to="/platform/tenants/$tenantId/people" params={{ tenantId: tenant.id }} search={{ search: of.email }}>{of.name}</Link> : of.name}</b><small>{of.email}</small></span>
        </span>
      </td>
      <td className="k2">{tenant ? <>{tenant.name}<small>{roleWord(tenant.role)}</small></> : <span className="faint"><Trans>No tenant</Trans></span>}</td>
      <td className="k3">
        {of.is_platform_admin ? <Status tone="plain"><Trans>Platform admin</Trans></Status> : of.email_verified ? <Status tone="good"><Trans>Verified</Trans></Status> : <Status tone="wait"><Trans>Email not verified</Trans></Status>}
      </td>
      <MfaCell on={of.mfa_enabled} />
      <td className="k6 muted" data-l={t`Last sign-in`}>{of.last_login_at ? <When at={of.last_login_at} /> : <span className="faint"><Trans>Never</Trans></span>}</td>
      <td className="k7 muted">{format.day(of.created_at)}</td>
    </tr>
  )
}

/** The users of all tenants, platform admins and users without a tenant. */
export default function People() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  useListKeys()
  const allowed = may('tenants.view')
  const params = { ...paramsOf(search), ...placeOf(search, ['-created_at', 'created_at', 'name']) }
  const users = useQuery({ ...listQuery('users', params), enabled: allowed })
  if (!allowed) return <NotAllowed needs={['tenants.view']} title={t`People`} />
  const total = users.data?.meta.total
  const views = [
    { name: t`All people`, search: {} }, { name: t`Platform admins`, search: { admins: '1' } }, { name: t`Without a tenant`, search: { alone: '1' } },
  ]
  const sorts = [{ value: '-created_at', label: t`Newest first` }, { value: 'created_at', label: t`Oldest first` }, { value: 'name', label: t`By name` }]
  const filtered = Object.keys(filtersIn(search)).length > 0
  const sort = (by: string, orders: string[], words: React.ReactNode) => <SortHead by={by} normal="-created_at" orders={orders}>{words}</SortHead>
  return (
    <Page title={t`People`} wide lead={total === undefined ? <>&nbsp;</> : <Plural value={total} one="# person" other="# people" />} actions={total !== 0 && <ExportCsv list="users" params={params} />}>
      <Views list="users" views={views} paramsOf={paramsOf} />
      <Filters search={<SearchField label={t`Search name, email or ID`} />} done={<Plural value={total ?? 0} one="Show # person" other="Show # people" />}>
        <TenantFilter />
        <ChoiceFilter name="mfa" label={t`MFA`} options={[{ value: 'on', label: t({ message: 'On', context: 'a second factor' }) }, { value: 'off', label: t({ message: 'Off', context: 'a second factor' }) }]} />
        <FlagFilter name="admins" label={t`Platform admins`} />
        <FlagFilter name="alone" label={t`Without a tenant`} />
      </Filters>
      <PhoneSort orders={sorts} />
      <Read query={users} lines={9}>
        {(found) => found.data.length > 0
          ? (
              <div className={users.isPlaceholderData ? 'is-old' : undefined}>
                <table className="table mid cards rows tenants2 users">
                  <thead>
                    <tr>
                      {sort('name', ['name', '-created_at'], <Trans>Name</Trans>)}<th scope="col"><Trans>Tenant</Trans></th><th scope="col"><Trans>Account</Trans></th><th scope="col"><Trans>MFA</Trans></th><th scope="col"><Trans>Last sign-in</Trans></th>
                      {sort('created_at', ['-created_at', 'created_at'], <Trans context="an account">Created</Trans>)}
                    </tr>
                  </thead>
                  <tbody>{found.data.map((one) => <Row key={one.id} of={one} />)}</tbody>
                </table>
                <RowsPager meta={found.meta} />
              </div>
            )
          : filtered
            ? <Empty icon="search" title={<Trans>No one matches these filters</Trans>} actions={<ButtonLink to="/platform/people"><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty icon="team" title={<Trans>No people yet</Trans>} />}
      </Read>
    </Page>
  )
}
