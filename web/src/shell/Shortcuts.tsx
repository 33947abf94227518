import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Dialog } from '../ui/Dialog'

const Keys = ({ keys }: { keys: string[] }) => <span className="keys-of">{keys.map((one) => <kbd key={one}>{one}</kbd>)}</span>

/** The keys of the platform's pages. */
export default function Shortcuts({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const search = /Mac|iPhone|iPad/.test(navigator.platform) ? ['⌘', 'K'] : ['Ctrl', 'K']
  const all: [string[], ReactNode][] = [
    [search, t`Search`], [['G', 'H'], t`Home`], [['G', 'T'], t`Tenants`], [['G', 'I'], t`Invoices`], [['G', 'A'], t`Analytics`],
    [['J', 'K'], t`Next and previous in a list`], [['R'], t`Resend the event of a delivery`], [['Esc'], t`Close a dialog`], [['?'], t`Show these shortcuts`],
  ]
  return (
    <Dialog open onClose={onClose} title={<Trans>Keyboard shortcuts</Trans>}>
      <dl className="sums">{all.map(([keys, label]) => <div key={keys.join()}><dt>{label}</dt><dd><Keys keys={keys} /></dd></div>)}</dl>
    </Dialog>
  )
}
