import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { pageOf, useFilters } from '../../app/filters'
import { Button } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { ProductForm } from './catalog/ProductForm'
import { ProductSection } from './catalog/ProductSection'
import { productsQuery } from './catalog/reads'
import { CatalogTabs } from './CatalogTabs'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

/** The catalog: products with their plans. */
export default function Catalog() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const [creating, setCreating] = useState(false)
  const products = useQuery({ ...productsQuery({ search: search.search, page: pageOf(search) }), enabled: may('products.view') })
  if (!may('products.view')) return <NotAllowed needs={['products.view']} title={t`Catalog`} />
  const create = may('products.create') && <Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New product</Trans></Button>
  return (
    <Page
      title={t`Catalog`} lead={<Trans>Your products, their plans, and the features of each plan.</Trans>}
      actions={products.data?.data.length ? create : null}
    >
      <CatalogTabs />
      <Read query={products} lines={9}>
        {(found) => found.data.length === 0
          ? <Empty icon="plan" title={<Trans>No products yet</Trans>} actions={create}><Trans>A product groups plans that customers choose between, such as Starter, Team and Business.</Trans></Empty>
          : <>{found.data.map((one) => <ProductSection key={one.id} of={one} />)}<Pager meta={found.meta} /></>}
      </Read>
      <ProductForm open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}
