import { Trans, useLingui } from '@lingui/react/macro'
import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Dialog } from '../ui/Dialog'

const Keys = ({ keys }: { keys: string[] }) => <span className="keys-of">{keys.map((one) => <kbd key={one}>{one}</kbd>)}</span>

/** The pages with a list that is read with the keyboard. */
const lists = /\/(tenants|invoices|credit-notes|subscriptions|people)\/?$/

/** The keys of the platform's pages, and of the page that is open. */
export default function Shortcuts({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const path = useLocation({ select: (location) => location.pathname })
  const search = /Mac|iPhone|iPad/.test(navigator.platform) ? ['⌘', 'K'] : ['Ctrl', 'K']
  const deliveries = path.includes('/deliveries')
  const list = lists.test(path)
  const all: ([string[], ReactNode] | false)[] = [
    [search, t`Search`], [['G', 'H'], t`Home`], [['G', 'T'], t`Tenants`], [['G', 'I'], t`Invoices`], [['G', 'A'], t`Analytics`],
    list && [['/'], t`Search this list`],
    (list || deliveries) && [['J', 'K'], t`Next and previous in a list`],
    list && [['.'], t`Open the menu of a row`],
    deliveries && [['R'], t`Resend the event of a delivery`],
    [['Esc'], t`Close a dialog`], [['?'], t`Show these shortcuts`],
  ]
  return (
    <Dialog open onClose={onClose} title={<Trans>Keyboard shortcuts</Trans>}>
      <dl className="sums">{all.filter((one) => one !== false).map(([keys, label]) => <div key={keys.join()}><dt>{label}</dt><dd><Keys keys={keys} /></dd></div>)}</dl>
    </Dialog>
  )
}
