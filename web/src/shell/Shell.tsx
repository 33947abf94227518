import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, useMatches, useNavigate, useParams, type LinkProps } from '@tanstack/react-router'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { useSettings } from '../app/session'
import { oneQuery } from '../pages/platform/tenant/reads'
import { Icon, type IconName } from '../ui/Icon'
import { useKeys } from '../ui/keys'
import { Menu, MenuEntry } from '../ui/Menu'
import { ActingBanner } from './ActingBanner'
import { Guide } from './Guide'
import { PaletteButton } from './Palette'
import { WhoMenu } from './WhoMenu'

const Shortcuts = lazy(() => import('./Shortcuts'))

/** An entry in the navigation. */
export interface Entry {
  to: LinkProps['to']
  icon: IconName
  label: string
  /** The key after G that opens it. */
  key?: string
  /** On a phone, it is in the More menu instead of the bottom bar. */
  rest?: boolean
  /** It is at the foot of the navigation, and on a phone in the More menu. */
  foot?: boolean
  /** The page has something that needs attention. */
  alert?: boolean
}

function NavLink({ entry, home }: { entry: Entry; home: boolean }) {
  // A page whose path is elsewhere belongs to the list that contains it.
  const under = useMatches({ select: (matches) => matches.some((match) => match.staticData.under?.to === entry.to) })
  return (
    <Link to={entry.to} activeOptions={{ exact: home }} activeProps={{ 'aria-current': 'page' }} {...(under ? { 'aria-current': 'page' } : {})}>
      <Icon name={entry.icon} />
      <span>{entry.label}</span>
      {entry.alert && <span className="dot"><span className="sr"><Trans>needs attention</Trans></span></span>}
    </Link>
  )
}

/**
 * The breadcrumbs: the names of the routes from the area to the page. A tenant of the platform has
 * its own name.
 */
function Crumbs() {
  const { i18n, t } = useLingui()
  const { tenantId = '' } = useParams({ strict: false })
  const tenant = useQuery({ ...oneQuery(tenantId), enabled: false }).data?.name
  const crumbs = useMatches().flatMap((match) => {
    const { crumb, under } = match.staticData
    return [...(under ? [{ to: under.to as string, label: i18n._(under.crumb) }] : []), ...(crumb ? [{ to: match.pathname, label: (tenantId && match.pathname.replace(/\/$/, '').endsWith(`/${tenantId}`) && tenant) || i18n._(crumb) }] : [])]
  })
  return (
    <nav className="crumbs" aria-label={t`Breadcrumb`}>
      {crumbs.map((one, i) => i === crumbs.length - 1
        ? <b key={one.to} aria-current="page">{one.label}</b>
        : [<Link key={one.to} to={one.to}>{one.label}</Link>, <Icon key={`${one.to}>`} name="right" />])}
    </nav>
  )
}

/**
 * The frame of all signed-in pages: navigation on the left, or at the bottom on a phone, and the
 * top bar. G and a letter open the entries, and ? lists the keys.
 */
export function Shell({ mark, name, below, entries, foot, banner, children }: {
  mark: ReactNode; name: string; below: string; entries: Entry[]; foot?: ReactNode; banner?: ReactNode; children: ReactNode
}) {
  const { t } = useLingui()
  const settings = useSettings()
  const home = entries[0]!
  const rest = entries.filter((entry) => entry.rest || entry.foot)
  const last = entries.filter((entry) => entry.foot)
  const navigate = useNavigate()
  const [isListing, setListing] = useState(false)
  useKeys({
    ...Object.fromEntries(entries.flatMap((entry) => (entry.key ? [[`g ${entry.key}`, () => void navigate({ to: entry.to })]] : []))),
    '?': () => setListing(true),
  })
  return (
    <>
      <a className="skip" href="#content"><Trans>Skip to content</Trans></a>
      {banner ?? <ActingBanner />}
      <div className="app">
        <nav className="nav" aria-label={name}>
          <Link className="nav-head" to={home.to}>
            {mark}
            <span><b title={name}>{name}</b><span>{below}</span></span>
          </Link>
          <ul>
            {entries.filter((entry) => !entry.foot).map((entry) => (
              <li key={entry.to} className={entry.rest ? 'rest' : undefined}><NavLink entry={entry} home={entry === home} /></li>
            ))}
            {rest.length > 0 && (
              <li className="only-phone">
                <Menu target={<button type="button" className="nav-more"><Icon name="dots" /><span><Trans>More</Trans></span></button>}>
                  {rest.map((entry) => <MenuEntry key={entry.to} icon={entry.icon} to={entry.to}>{entry.label}</MenuEntry>)}
                </Menu>
              </li>
            )}
          </ul>
          <p className={last.length > 0 ? 'nav-foot foot-set' : 'nav-foot'}>
            {last.map((entry) => <NavLink key={entry.to} entry={entry} home={false} />)}
            {foot ?? (settings.support_email && <Trans>Help: <a href={`mailto:${settings.support_email}`}>{settings.support_email}</a></Trans>)}
          </p>
        </nav>
        <div className="main">
          <header className="top">
            <Link className="top-home" to={home.to}><span className="sr">{t`Home`}</span>{mark}</Link>
            <Crumbs />
            <Guide />
            <PaletteButton />
            <WhoMenu onKeys={() => setListing(true)} />
          </header>
          {children}
        </div>
      </div>
      {isListing && <Suspense><Shortcuts entries={entries} onClose={() => setListing(false)} /></Suspense>}
    </>
  )
}
