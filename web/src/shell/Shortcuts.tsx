import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import { Dialog } from '../ui/Dialog'
import { pageKeys, type PageKey } from '../ui/keys'
import type { Entry } from './Shell'

const Keys = ({ keys }: { keys: string[] }) => <span className="keys-of">{keys.map((one) => <kbd key={one}>{one}</kbd>)}</span>

/** The keys of the navigation, and of the page that is open. */
export default function Shortcuts({ entries, onClose }: { entries: Entry[]; onClose: () => void }) {
  const { t } = useLingui()
  const [found] = useState(pageKeys)
  const search = /Mac|iPhone|iPad/.test(navigator.platform) ? ['⌘', 'K'] : ['Ctrl', 'K']
  const words: [PageKey, string[], string][] = [
    ['search', ['/'], t`Search this list`],
    ['rows', ['J', 'K'], t`Next and previous in a list`],
    ['menu', ['.'], t`Open the menu of a row`],
    ['resend', ['R'], t`Resend the event of a delivery`],
  ]
  const all: [string[], ReactNode][] = [
    [search, t`Search`],
    ...entries.flatMap((entry): [string[], ReactNode][] => (entry.key ? [[['G', entry.key.toUpperCase()], entry.label]] : [])),
    ...words.flatMap(([key, keys, word]): [string[], ReactNode][] => (found.includes(key) ? [[keys, word]] : [])),
    [['Esc'], t`Close a dialog`], [['?'], t`Show these shortcuts`],
  ]
  return (
    <Dialog open onClose={onClose} title={<Trans>Keyboard shortcuts</Trans>}>
      <dl className="sums">{all.map(([keys, label]) => <div key={keys.join()}><dt>{label}</dt><dd><Keys keys={keys} /></dd></div>)}</dl>
    </Dialog>
  )
}
