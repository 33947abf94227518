import { useLingui } from '@lingui/react/macro'
import { Link, type LinkProps } from '@tanstack/react-router'
import { usePlatformMay } from './may'

/** The tabs of the catalog. */
export function CatalogTabs() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const tabs: [LinkProps['to'], string, string][] = [
    ['/platform/catalog', t`Plans`, 'products.view'], ['/platform/meters', t`Meters`, 'meters.manage'], ['/platform/catalog/packs', t`Packs`, 'plans.view'],
    ['/platform/catalog/codes', t`Promotion codes`, 'plans.view'], ['/platform/catalog/features', t`Features`, 'features.view'],
  ]
  return (
    <nav className="tabs gap-below" aria-label={t`Catalog`}>
      {tabs.filter(([, , permission]) => may(permission)).map(([to, label]) => (
        <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{label}</Link>
      ))}
    </nav>
  )
}
