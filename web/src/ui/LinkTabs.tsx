import { useLingui } from '@lingui/react/macro'
import { Link, useMatchRoute, useNavigate, type LinkProps } from '@tanstack/react-router'

/** Tabs that are pages; on a phone, a selection. */
export function LinkTabs({ name, tabs }: { name: string; tabs: { to: LinkProps['to']; label: string }[] }) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const matches = useMatchRoute()
  const current = tabs.find(({ to }) => matches({ to } as never))?.to ?? tabs[0]?.to
  return (
    <div className="tabs-row">
      <nav className="tabs" aria-label={name}>
        {tabs.map(({ to, label }) => <Link key={to} to={to} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>{label}</Link>)}
      </nav>
      <div className="tabs-pick">
        <select className="select" aria-label={t`Section`} value={current} onChange={(event) => void navigate({ to: event.target.value as LinkProps['to'] })}>
          {tabs.map(({ to, label }) => <option key={to} value={to}>{label}</option>)}
        </select>
      </div>
    </div>
  )
}
