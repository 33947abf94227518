import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { useSettings } from '../../app/session'
import { Button } from '../../ui/Button'
import { ClearFilters } from '../../ui/ClearFilters'
import { Confirm } from '../../ui/Confirm'
import { MenuEntry, MenuLine, More } from '../../ui/Menu'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { catalogKey, featuresQuery } from './catalog/reads'
import { writtenIn } from './catalog/TextFields'
import { nameIn, textsOf } from './catalog/texts'
import { FeatureForm } from './features/FeatureForm'
import { CatalogTabs } from './CatalogTabs'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

function FeatureRow({ of }: { of: Schema<'AdminFeature'> }) {
  const { t, i18n } = useLingui()
  const may = usePlatformMay()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const name = nameIn(of.translations, i18n.locale)
  const { locales } = useSettings()
  const [written, offered] = [writtenIn(textsOf(of.translations), locales), locales.length]
  return (
    <tr>
      <td className="k1">
        {may('features.update') ? <button type="button" className="rowlink as-row" onClick={() => setAsked('edit')}>{name}</button> : <b>{name}</b>}
        <small><code>{of.code}</code></small>
      </td>
      <td className="k2 muted">{of.translations[i18n.locale]?.description || of.translations.en?.description}</td>
      <td className="k3" data-l={t`Languages`}>{written === offered ? <Trans>All languages</Trans> : <span className="st warn"><Trans>{written} of {offered}</Trans></span>}</td>
      <td className="k4">{of.is_active ? <Status tone="good"><Trans>Shown</Trans></Status> : <Status tone="off"><Trans>Hidden</Trans></Status>}</td>
      <td className="acts-cell">
        {(may('features.update') || may('features.delete')) && (
          <More small>
            {may('features.update') && <MenuEntry icon="pencil" onClick={() => setAsked('edit')}><Trans>Edit</Trans></MenuEntry>}
            {may('features.delete') && !of.is_system && <MenuLine />}
            {may('features.delete') && !of.is_system && <MenuEntry icon="x" danger onClick={() => setAsked('remove')}><Trans>Delete</Trans></MenuEntry>}
          </More>
        )}
        <FeatureForm of={of} open={asked === 'edit'} onClose={() => setAsked(undefined)} />
        <Confirm
          open={asked === 'remove'} onClose={() => setAsked(undefined)} title={<Trans>Delete the feature {name}?</Trans>} action={<Trans>Delete feature</Trans>}
          onConfirm={async () => {
            await api.DELETE('/api/v1/admin/features/{feature}', { params: { path: { feature: of.id } } })
            await queries.invalidateQueries({ queryKey: catalogKey })
            toast(<Trans>The feature {name} was deleted.</Trans>)
          }}
        >
          <p><Trans>It is removed from all plans. A feature cannot be deleted while a plan that includes it has a subscription.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}

/** The features that plans can include, with their names in four languages and their codes. */
export default function Features() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const [creating, setCreating] = useState(false)
  const features = useQuery({ ...featuresQuery({ search: search.search, page: pageOf(search) }), enabled: may('features.view') })
  if (!may('features.view')) return <NotAllowed needs={['features.view']} title={t`Features`} />
  const create = may('features.create') && <Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New feature</Trans></Button>
  return (
    <Page title={t`Features`} lead={<Trans>The differences between plans. A plan includes a feature with or without a limit.</Trans>} actions={create}>
      <CatalogTabs />
      <div className="toolbar"><SearchField label={t`Search by name`} /></div>
      <Read query={features} lines={7}>
        {(found) => found.data.length === 0
          ? <Empty icon="check" title={search.search ? <Trans>No feature matches “{search.search}”</Trans> : <Trans>No features yet</Trans>} actions={search.search ? <ClearFilters /> : create}>{!search.search && <Trans>Create a feature for each thing that larger plans include more of.</Trans>}</Empty>
          : (
            <>
              <table className="table mid cards rows feature-list">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Feature</Trans></th><th scope="col"><Trans>Description</Trans></th><th scope="col"><Trans>Languages</Trans></th><th scope="col"><Trans>Status</Trans></th>
                    <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                  </tr>
                </thead>
                <tbody>{found.data.map((one) => <FeatureRow key={one.id} of={one} />)}</tbody>
              </table>
              <Pager meta={found.meta} />
            </>
          )}
      </Read>
      <FeatureForm open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
