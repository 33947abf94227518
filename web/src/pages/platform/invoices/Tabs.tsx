import { useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'

/** The documents of all tenants: invoices and credit notes. */
export function DocumentTabs() {
  const { t } = useLingui()
  return (
    <nav className="tabs gap-below" aria-label={t`Documents`}>
      <Link to="/platform/invoices" activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Invoices`}</Link>
      <Link to="/platform/invoices/credit-notes" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{t`Credit notes`}</Link>
    </nav>
  )
}
