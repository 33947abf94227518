import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { offered, showIn, type Language } from '../app/locale'
import { useSettings } from '../app/session'
import { useTitle } from '../ui/Page'
import { Mark } from './Mark'

/** The frame of pages that require no session. */
export function Out({ title, end, board, wide, children }: { title: string; end?: ReactNode; board?: boolean; wide?: boolean; children: ReactNode }) {
  const { t, i18n } = useLingui()
  const settings = useSettings()
  useTitle(title)
  return (
    <div className="out">
      <header>
        <Link className="brand" to="/sign-in"><Mark /><b>{settings.app_name}</b></Link>
        {end && <span className="end">{end}</span>}
      </header>
      <main id="content" className={board ? 'board' : wide ? 'page' : 'door'}>{children}</main>
      <footer>
        {settings.terms_url && <a href={settings.terms_url}><Trans>Terms</Trans></a>}
        {settings.privacy_url && <a href={settings.privacy_url}><Trans>Privacy</Trans></a>}
        {settings.support_email && <a href={`mailto:${settings.support_email}`}><Trans>Help</Trans></a>}
        <span className="end">
          <select className="select dense plain" aria-label={t`Language`} value={i18n.locale} onChange={(event) => void showIn(event.target.value as Language, true)}>
            {offered(settings.locales).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
          </select>
        </span>
      </footer>
    </div>
  )
}
