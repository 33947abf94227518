import { Trans, useLingui } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { Note } from '../ui/Messages'

/** Shows a secret once. Only its button closes it, so that it is not lost by accident. */
export function SecretDialog({ secret, title, onClose, children }: {
  secret: string | undefined; title: ReactNode; onClose: () => void; children: ReactNode
}) {
  return (
    <Dialog open={secret !== undefined} onClose={() => {}} title={title} wide>
      {secret !== undefined && <Body secret={secret} onClose={onClose}>{children}</Body>}
    </Dialog>
  )
}

function Body({ secret, onClose, children }: { secret: string; onClose: () => void; children: ReactNode }) {
  const { t } = useLingui()
  const [copied, setCopied] = useState(false)
  return (
    <div className="stack">
      <Note tone="warn" title={<Trans>Save it now. It is shown only once.</Trans>}>{children}</Note>
      <div className="secret">
        <code tabIndex={0} aria-label={t`Secret`}>{secret}</code>
        <Button icon={copied ? 'check' : 'copy'} onClick={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}>
          {copied ? <Trans>Copied</Trans> : <Trans>Copy</Trans>}
        </Button>
      </div>
      <div className="acts"><Button look={copied ? 'primary' : 'plain'} onClick={onClose}><Trans>I have saved it</Trans></Button></div>
    </div>
  )
}
