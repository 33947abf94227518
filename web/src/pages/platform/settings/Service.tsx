import { Trans, useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { useSettings } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Chips } from '../../../ui/Chips'
import { Empty } from '../../../ui/Messages'
import { Locked, Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { SearchField } from '../../../ui/SearchField'
import { usePlatformMay } from '../may'
import { BrandPreview } from './BrandPreview'

type Setting = Schema<'SettingSource'>
type Group = Setting['group']

const sourcesQuery = queryOptions({
  queryKey: ['service-settings'],
  queryFn: async () => (await api.GET('/api/v1/admin/settings')).data!.data,
})

/** Splits a description after its first sentence. */
function sentences(about: string): [string, string] {
  const end = about.indexOf('. ')
  return end < 0 ? [about.replace(/\.$/, ''), ''] : [about.slice(0, end), about.slice(end + 2)]
}

function Row({ label, about, children }: { label: ReactNode; about?: ReactNode; children: ReactNode }) {
  return <div><dt>{label}{about && <small className="faint">{about}</small>}</dt><dd>{children}</dd></div>
}

/** The value of a setting: the one that was set, or else the default. */
function Value({ of }: { of: Setting }) {
  const { logo_url, app_name } = useSettings()
  const empty = <span className="faint"><Trans>Not set</Trans></span>
  if (of.is_secret) return of.source === 'default' && !of.default ? empty : of.source === 'default' ? of.default : <Trans>Saved, not shown</Trans>
  if (of.variable === 'TENANTRY_LOGO' && logo_url) return <img className="logo-shown" src={logo_url} alt={app_name} />
  if (of.variable === 'TENANTRY_ACCENT' && of.value) return <span className="accent-shown"><i style={{ background: of.value }} />{of.value}</span>
  return of.value ?? of.default ?? empty
}

function Source({ of }: { of: Setting }) {
  const { t } = useLingui()
  const words: Record<Setting['source'], string> = { default: t`Default value`, environment: t`Environment variable`, flag: t`Flag`, file: t`File` }
  return <span className="tag">{words[of.source]}</span>
}

/** The way to change a setting, which depends on where its value comes from. */
function Change({ of: { variable, flag, source, is_secret } }: { of: Setting }) {
  const file = `${variable}_FILE`
  if (source === 'file') return <Trans>Change the file that <code>{file}</code> names, then restart the service.</Trans>
  if (source === 'flag' || !variable) return <Trans>Start the service with another value of <code>{flag}</code>.</Trans>
  if (is_secret) return <Trans>Set <code>{variable}</code>, or <code>{file}</code> to the path of a file, then restart the service.</Trans>
  return <><Trans>Set <code>{variable}</code> where the service runs, then restart it.</Trans> <Trans>The flag <code>{flag}</code> takes precedence.</Trans></>
}

function SettingRow({ of }: { of: Setting }) {
  const [label, about] = sentences(of.about)
  return (
    <Row label={label} about={about}>
      <span className="break"><Value of={of} /></span> <Source of={of} />
      <details className="t13"><summary><Trans>How to change</Trans></summary><Change of={of} /></details>
    </Row>
  )
}

/** The identity providers, which any number of variables describe. */
function Providers() {
  const { t } = useLingui()
  const format = useFormat()
  const { oauth_providers } = useSettings()
  const variable = 'TENANTRY_OAUTH_…, TENANTRY_OIDC_…'
  return (
    <Row label={t`Identity providers offered next to the password`}>
      {oauth_providers.length > 0 ? format.list(oauth_providers) : <span className="faint"><Trans>Not set</Trans></span>}
      <details className="t13"><summary><Trans>How to change</Trans></summary><Trans>Set <code>{variable}</code> where the service runs, then restart it.</Trans></details>
    </Row>
  )
}

function Groups({ all }: { all: Setting[] }) {
  const { t } = useLingui()
  const [search] = useFilters()
  const groups: [Group, string][] = [
    ['brand', t`Brand`], ['http', t`Addresses and sign-in`], ['invoice', t`Invoices`], ['payment', t`Late payments`], ['lifetime', t`Lifetimes`],
    ['retention', t`Retention`], ['usage', t`Usage`], ['external', t`External services`], ['store', t`Data and logs`], ['demo', t`Demo data`],
  ]
  const sought = search.search?.trim().toLowerCase() ?? ''
  const shown = all.filter((one) => (search.show !== 'set' || one.source !== 'default')
    && [one.about, one.variable, one.flag, one.value].some((text) => text?.toLowerCase().includes(sought)))
  if (shown.length === 0) {
    return <Empty slim icon="search" title={<Trans>No settings match these filters</Trans>} actions={<ButtonLink to="/platform/settings"><Trans>Clear filters</Trans></ButtonLink>} />
  }
  return groups.map(([group, title]) => {
    const own = shown.filter((one) => one.group === group)
    if (own.length === 0) return null
    return (
      <section key={group} className="settings-group">
        <h3 className="h2">{title}</h3>
        {group === 'brand' && !sought && <BrandPreview />}
        <dl className="dl settings">
          {own.map((one) => <SettingRow key={one.variable ?? one.flag} of={one} />)}
          {group === 'http' && !sought && search.show !== 'set' && <Providers />}
        </dl>
      </section>
    )
  })
}

/** The settings of the service. They are read-only, because the operator sets them at the start. */
export function Service() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const allowed = may('logs.view')
  const [search] = useFilters()
  const all = useQuery({ ...sourcesQuery, enabled: allowed })
  const permission = 'logs.view'
  return (
    <Section title={<Trans>The service</Trans>} lead={<Trans>These values are set where the service runs, as environment variables or flags. Secrets are never shown.</Trans>}>
      {allowed
        ? (
          <>
            <div className="toolbar">
              <SearchField label={t`Search settings`} />
              <Chips name="show" label={t`Show`} value={search.show === 'set' ? 'set' : 'all'} options={[{ value: 'all', label: t({ message: 'All', context: 'settings' }) }, { value: 'set', label: t`Changed from the default` }]} />
            </div>
            <Read query={all} lines={8}>{(found) => <Groups all={found} />}</Read>
          </>
        )
        : <Locked><Trans>To see the settings of the service, ask an operator for the permission “{permission}”.</Trans></Locked>}
    </Section>
  )
}
