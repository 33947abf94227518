import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import { useSettings } from '../../app/session'
import { Button } from '../../ui/Button'
import { Check } from '../../ui/Field'

/** Saves a text as a file. */
function download(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

/**
 * Shows new recovery codes, which are shown only once. The button is off until the codes were
 * copied or downloaded, or the user has checked the box.
 */
export function RecoveryCodes({ codes, done, onDone }: {
  codes: string[]
  /** The text of the button that leads on. */
  done: ReactNode
  onDone: () => void
}) {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const [saved, setSaved] = useState(false)
  const [report, setReport] = useState('')
  const text = codes.join('\n') + '\n'
  const file = `${app_name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '') || 'app'}-recovery-codes.txt`
  function finish(words: string) {
    setSaved(true)
    setReport(words)
  }
  return (
    <div className="stack">
      <ol className="codes">{codes.map((code) => <li key={code}>{code}</li>)}</ol>
      <div className="acts start">
        <Button size="s" icon="download" onClick={() => { download(file, `${app_name}\n\n${text}`); finish(t`Downloaded`) }}><Trans>Download</Trans></Button>
        <Button size="s" icon="copy" onClick={() => void navigator.clipboard.writeText(text).then(() => finish(t`Copied`))}><Trans>Copy</Trans></Button>
        <Button size="s" icon="printer" onClick={() => window.print()}><Trans>Print</Trans></Button>
        <span className="small muted" role="status">{report}</span>
      </div>
      <Check checked={saved} onChange={(event) => setSaved(event.target.checked)}><Trans>I saved these codes in a safe place</Trans></Check>
      <div className="acts"><Button look="primary" disabled={!saved} onClick={onDone}>{done}</Button></div>
    </div>
  )
}
