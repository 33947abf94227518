import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { offered, showIn } from '../app/locale'
import { useMe, useSettings, useSignOut } from '../app/session'
import { chooseTheme, chosenTheme, type Theme } from '../app/theme'
import { Icon } from '../ui/Icon'
import { Menu, MenuEntry, MenuLabel, MenuLine } from '../ui/Menu'
import { Avatar } from '../ui/People'

/** The user menu: profile, shortcuts (in a frame that has some), theme, language and sign out. */
export function WhoMenu({ onKeys }: { onKeys?: () => void }) {
  const { t, i18n } = useLingui()
  const { user, currentTenant } = useMe()
  const signOut = useSignOut()
  const { locales } = useSettings()
  const [theme, setTheme] = useState<Theme>(chosenTheme())
  const themes: [Theme, string][] = [['system', t`Match system`], ['light', t`Light`], ['dark', t`Dark`]]
  return (
    <Menu
      target={(
        <button type="button" className="who">
          <span className="sr">{t`${user.name}: account`}</span>
          <Avatar name={user.name} src={user.avatar} />
          <span aria-hidden="true">{user.name}</span>
          <Icon name="down" />
        </button>
      )}
    >
      <MenuLabel>{user.email}</MenuLabel>
      <MenuEntry icon="person" to="/profile"><Trans>Profile</Trans></MenuEntry>
      {user.is_platform_admin && currentTenant && <MenuEntry icon="building" to="/">{currentTenant.name}</MenuEntry>}
      {user.is_platform_admin && <MenuEntry icon="gauge" to="/platform"><Trans>Platform</Trans></MenuEntry>}
      {onKeys && <MenuEntry icon="laptop" onClick={onKeys}><Trans>Keyboard shortcuts</Trans></MenuEntry>}
      <MenuLine />
      <MenuLabel><Trans>Theme</Trans></MenuLabel>
      {themes.map(([value, label]) => (
        <MenuEntry key={value} icon={theme === value ? 'check' : 'sun'} onClick={() => { chooseTheme(value); setTheme(value) }}>{label}</MenuEntry>
      ))}
      {locales.length > 1 && <MenuLabel><Trans>Language</Trans></MenuLabel>}
      {locales.length > 1 && offered(locales).map(([code, name]) => (
        <MenuEntry key={code} icon={i18n.locale === code ? 'check' : 'globe'} onClick={() => void showIn(code, true)}>{name}</MenuEntry>
      ))}
      <MenuLine />
      <MenuEntry icon="out" onClick={() => void signOut()}><Trans>Sign out</Trans></MenuEntry>
    </Menu>
  )
}
