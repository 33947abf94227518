import { Modal } from '@mantine/core'
import { Trans, useLingui } from '@lingui/react/macro'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useState, type KeyboardEvent, type MouseEvent } from 'react'
import { address } from '../api/client'
import { useMe } from '../app/session'
import { Floating } from '../ui/Floating'
import { Icon } from '../ui/Icon'
import { folded, Marked } from './Marked'
import { recentOf, remember } from './recent'
import type { Found, Scope } from './types'
import { useHits } from './useHits'
import { usePages } from './usePages'
import '../styles/search.css'

/** Returns a text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 120)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Returns whose objects to search: all on the pages of the platform, otherwise the tenant's. */
function useScope(): Scope | undefined {
  const { user, currentTenant } = useMe()
  const onPlatform = useLocation().pathname.startsWith('/platform')
  if (user.is_platform_admin && (onPlatform || !currentTenant)) return user.permissions.includes('tenants.view') ? 'platform' : undefined
  return currentTenant ? { tenantId: currentTenant.id } : undefined
}

/** The number of pages and actions to show without a query. */
const suggested = 6

/** Returns the entries for a text: objects, pages and actions; without a text, recent ones and suggestions. */
function useEntries(text: string, scope: Scope | undefined, owner: string) {
  const { t } = useLingui()
  const { found, top, isLoading, isFailed } = useHits(scope, useSettled(text))
  const { pages, actions } = usePages(text ? top : undefined)
  const words = folded(text).split(/\s+/).filter(Boolean)
  const matches = (one: Found) => words.every((word) => folded(one.title).split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(word)))
  const suggestions = [...actions.slice(0, suggested), ...pages.slice(0, suggested)]
  if (!text) {
    const recent = recentOf(owner).map((one): Found => ({ ...one, group: t`Recent` }))
    return { entries: [...recent, ...suggestions], isLoading, isFailed, nothing: false }
  }
  const aboutTop = (one: Found) => !!top && ['subscribe', 'change', 'credit', 'act'].includes(one.key)
  const matching = [...found, ...pages.filter(matches), ...actions.filter((one) => aboutTop(one) || matches(one))]
  const nothing = matching.length === 0 && !isLoading
  return { entries: nothing ? suggestions : matching, isLoading, isFailed, nothing }
}

/** Finds objects, pages and actions. It works with the keyboard only. */
export default function PaletteDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const { user } = useMe()
  const scope = useScope()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const owner = `${user.id}.${scope === 'platform' || !scope ? 'platform' : scope.tenantId}`
  const sought = text.trim()
  const { entries, isLoading, isFailed, nothing } = useEntries(sought, scope, owner)
  const chosen = Math.min(at, entries.length - 1)

  useEffect(() => { document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' }) }, [id, chosen])

  function choose(one: Found, inTab: boolean) {
    if (one.group !== t`Pages` && one.group !== t`Actions`) remember(owner, one)
    if (inTab && one.url) return void window.open(address(one.url), '_blank', 'noopener')
    onClose()
    one.run?.()
    if (!one.url) return
    const url = new URL(one.url, 'http://console')
    void navigate({ to: url.pathname, search: Object.fromEntries(url.searchParams), hash: url.hash.slice(1) || undefined } as never)
  }
  function onKey(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const action = entries.findIndex((one) => one.group === t`Actions`)
    if (step) setAt((chosen + step + entries.length) % entries.length)
    else if (event.key === 'Enter' && entries[chosen]) choose(entries[chosen], event.metaKey || event.ctrlKey)
    else if (event.key === 'Tab' && !event.shiftKey && action > chosen) setAt(action)
    else if (event.key === 'Escape' && text) {
      event.stopPropagation()
      setText('')
      setAt(0)
    } else return
    event.preventDefault()
  }
  return (
    <Floating>
      <Modal.Root
        opened onClose={onClose} lockScroll={false} size={640} radius={12} yOffset="min(96px, 10vh)" padding={0}
        transitionProps={{ duration: 120 }} classNames={{ content: 'palette-box', body: 'palette', overlay: 'dialog-overlay', inner: 'palette-inner' }}
      >
        <Modal.Overlay />
        <Modal.Content>
          <Modal.Body>
            <Modal.Title className="sr">{t`Search`}</Modal.Title>
            <div className={`ask ${isLoading ? 'is-loading' : ''}`} aria-busy={isLoading || undefined}>
              <Icon name="search" />
              <input
                data-autofocus value={text} role="combobox" aria-expanded aria-autocomplete="list" aria-controls={id} aria-activedescendant={entries[chosen] && `${id}-${chosen}`} spellCheck={false} maxLength={100}
                aria-label={t`Search`} placeholder={scope === 'platform' ? t`Tenants, people, invoices, pages, actions` : t`Members, invoices, pages, actions`}
                onChange={(event) => { setText(event.target.value); setAt(0) }} onKeyDown={onKey}
              />
              <kbd>esc</kbd>
              <button type="button" className="btn s quiet phone-only" onClick={onClose}><Trans>Close</Trans></button>
            </div>
            {isFailed && <p className="palette-note" role="alert"><Icon name="alert" /><Trans>Search is not available right now. Pages and actions still work.</Trans></p>}
            {nothing && (
              <div className="none" role="status">
                <h2><Trans>No results for “{sought}”</Trans></h2>
                <p><Trans>Search covers names, emails, IDs, invoice numbers and pages. Enter the beginning of each word.</Trans></p>
              </div>
            )}
            <Results id={id} entries={entries} query={nothing ? '' : sought} chosen={chosen} onHover={setAt} onChoose={(one, event) => choose(one, event.metaKey || event.ctrlKey)} />
            <footer aria-hidden="true">
              <span><kbd>↑</kbd><kbd>↓</kbd><Trans>Move</Trans></span><span><kbd>↵</kbd><Trans context="a page">Open</Trans></span>
              <span><kbd>⌘</kbd><kbd>↵</kbd><Trans>Open in new tab</Trans></span><span><kbd>tab</kbd><Trans>Actions</Trans></span>
            </footer>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </Floating>
  )
}

function Results({ id, entries, query, chosen, onHover, onChoose }: {
  id: string; entries: Found[]; query: string; chosen: number; onHover: (at: number) => void; onChoose: (one: Found, event: MouseEvent) => void
}) {
  const { t } = useLingui()
  const groups = [...new Set(entries.map((one) => one.group))]
  return (
    <div className="res" role="listbox" id={id} aria-label={query ? t`Results` : t`Suggestions`}>
      {groups.map((group, g) => (
        <div key={group} role="group" aria-labelledby={`${id}-g${g}`}>
          <p className="cap" id={`${id}-g${g}`}>{group}</p>
          {entries.map((one, i) => one.group === group && (
            <div key={one.key} id={`${id}-${i}`} role="option" aria-selected={i === chosen} className="opt" onPointerMove={() => onHover(i)} onClick={(event) => onChoose(one, event)}>
              <Icon name={one.icon} />
              <span className="n"><Marked text={one.title} query={query} />{one.subtitle && <small><Marked text={one.subtitle} query={query} /></small>}</span>
              <span className="e">{one.end}{i === chosen && <kbd aria-hidden="true">↵</kbd>}</span>
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
