import { Modal } from '@mantine/core'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useId, useState, type KeyboardEvent } from 'react'
import { api } from '../api/client'
import { useMe } from '../app/session'
import { chooseTheme } from '../app/theme'
import { Icon, type IconName } from '../ui/Icon'

interface Found {
  key: string
  group: string
  icon: IconName
  label: string
  hint?: string
  run: () => void
}

/** Finds pages, actions and, for admins, tenants. It works with the keyboard only. */
export default function PaletteDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const { user, currentTenant } = useMe()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const wanted = useDeferredValue(text.trim())
  const tenants = useQuery({
    queryKey: ['palette', wanted],
    enabled: user.is_platform_admin && wanted.length > 1,
    queryFn: async () => (await api.GET('/api/v1/admin/tenants', { params: { query: { search: wanted, per_page: 6 } } })).data!.data,
  })

  const page = (to: string, icon: IconName, label: string): Found => ({ key: to, group: t`Pages`, icon, label, run: () => void navigate({ to }) })
  const all: Found[] = [
    ...(currentTenant ? [
      page('/', 'home', t`Home`), page('/plan', 'plan', t`Plan`), page('/plan/usage', 'gauge', t`Usage`), page('/invoices', 'receipt', t`Invoices`), page('/team', 'team', t`Team`),
      page('/developers', 'code', t`API keys and webhooks`), page('/activity', 'activity', t`Activity`), page('/settings', 'settings', t`Settings`), page('/settings/sign-in', 'key', t`Sign-in`),
    ] : []),
    page('/profile', 'person', t`Your profile`), page('/profile/security', 'lock', t`Security`),
    ...(user.is_platform_admin ? [
      page('/platform', 'gauge', t`Platform`), page('/platform/tenants', 'building', t`Tenants`), page('/platform/catalog', 'plan', t`Catalog`), page('/platform/catalog/packs', 'box', t`Packs`), page('/platform/catalog/codes', 'coin', t`Promotion codes`),
      page('/platform/meters', 'gauge', t`Meters`), page('/platform/activity', 'activity', t`Activity of the platform`),
    ] : []),
    { key: 'light', group: t`Actions`, icon: 'sun', label: t`Light theme`, run: () => chooseTheme('light') },
    { key: 'dark', group: t`Actions`, icon: 'sun', label: t`Dark theme`, run: () => chooseTheme('dark') },
  ]
  const found: Found[] = [
    ...(tenants.data ?? []).map((one): Found => ({
      key: one.id, group: t`Tenants`, icon: 'building', label: one.name, hint: one.plan_name ?? undefined,
      run: () => void navigate({ to: '/platform/tenants/$tenantId', params: { tenantId: one.id } }),
    })),
    ...all.filter((one) => one.label.toLowerCase().includes(wanted.toLowerCase())),
  ]
  const chosen = Math.min(at, found.length - 1)

  function onKey(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      event.preventDefault()
      setAt((chosen + step + found.length) % found.length)
    } else if (event.key === 'Enter' && found[chosen]) {
      event.preventDefault()
      choose(found[chosen])
    }
  }
  function choose(one: Found) {
    onClose()
    one.run()
  }
  return (
    <Modal
      opened onClose={onClose} withCloseButton={false} lockScroll={false} size={480} radius={12} yOffset="14vh" padding={0}
      transitionProps={{ duration: 120 }} aria-label={t`Search`} classNames={{ content: 'palette-box', body: 'palette', overlay: 'dialog-overlay' }}
    >
      <div className="ask">
        <Icon name="search" />
        <input
          data-autofocus value={text} role="combobox" aria-expanded aria-controls={id} aria-activedescendant={found[chosen] && `${id}-${chosen}`}
          aria-label={t`Search`} placeholder={user.is_platform_admin ? t`Tenants, pages, actions` : t`Pages and actions`}
          onChange={(event) => { setText(event.target.value); setAt(0) }} onKeyDown={onKey}
        />
        <kbd>Esc</kbd>
      </div>
      <div className="menu" role="listbox" id={id} aria-label={t`Results`}>
        {found.map((one, i) => (
          <div key={one.key}>
            {one.group !== found[i - 1]?.group && <p className="cap" aria-hidden="true">{one.group}</p>}
            <div
              id={`${id}-${i}`} role="option" aria-selected={i === chosen} className={`menu-item ${i === chosen ? 'is-hover' : ''}`}
              onPointerMove={() => setAt(i)} onClick={() => choose(one)}
            >
              <Icon name={one.icon} />{one.label}{one.hint && <span>{one.hint}</span>}
            </div>
          </div>
        ))}
        {found.length === 0 && <p className="cap"><Trans>Nothing found</Trans></p>}
      </div>
    </Modal>
  )
}
