import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState, type ReactNode } from 'react'
import { Button } from './Button'
import { Icon } from './Icon'

/** Copies a text to the clipboard, and reports success for two seconds. */
function useCopied(): [boolean, (text: string) => void] {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  return [copied, (text) => void navigator.clipboard.writeText(text).then(() => setCopied(true))]
}

function shortened(text: string): string {
  return text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text
}

/** A button that copies a text, such as a link. */
export function CopyButton({ text, children }: { text: string; children: ReactNode }) {
  const [copied, copy] = useCopied()
  return <Button size="s" icon={copied ? 'check' : 'copy'} onClick={() => copy(text)}>{copied ? <Trans>Copied</Trans> : children}</Button>
}

/** A text to copy with a click: a shortened id, or the complete text with whole. */
export function Copy({ text, whole }: { text: string; whole?: boolean }) {
  const { t } = useLingui()
  const [copied, copy] = useCopied()
  return (
    <button type="button" className="copy" title={text} onClick={() => copy(text)}>
      {copied
        ? <><Icon name="check" /> <Trans>Copied</Trans></>
        : <><span className="sr">{t`Copy`} </span><span>{whole ? text : shortened(text)}</span> <Icon name="copy" /></>}
    </button>
  )
}

/** An icon that copies a text. The label names the text. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const { t } = useLingui()
  const [copied, copy] = useCopied()
  return (
    <>
      <button type="button" className="copy" aria-label={label} onClick={() => copy(text)}><Icon name={copied ? 'check' : 'copy'} /></button>
      <span className="sr" role="status">{copied && t`Copied`}</span>
    </>
  )
}

/** A quiet button that copies a text. The label names the text. */
export function CopyQuiet({ text, label, children }: { text: string; label?: string; children?: ReactNode }) {
  const [copied, copy] = useCopied()
  return (
    <Button size="s" look="quiet" icon={copied ? 'check' : 'copy'} aria-label={copied ? undefined : label} onClick={() => copy(text)}>
      {copied ? <Trans>Copied</Trans> : children ?? <Trans>Copy</Trans>}
    </Button>
  )
}
