import { useLingui } from '@lingui/react/macro'
import type { LinkProps } from '@tanstack/react-router'
import { LinkTabs } from '../../ui/LinkTabs'
import { usePlatformMay } from './may'

/** The tabs of the catalog. */
export function CatalogTabs() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const tabs: [LinkProps['to'], string, string][] = [
    ['/platform/catalog', t`Plans`, 'products.view'], ['/platform/meters', t`Meters`, 'meters.manage'], ['/platform/catalog/packs', t`Packs`, 'plans.view'],
    ['/platform/catalog/codes', t`Promotion codes`, 'plans.view'], ['/platform/catalog/features', t`Features`, 'features.view'],
  ]
  return <LinkTabs name={t`Catalog`} tabs={tabs.filter(([, , permission]) => may(permission)).map(([to, label]) => ({ to, label }))} />
}
