import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { address } from '../../api/client'
import { useFormat } from '../../app/format'
import { ButtonAnchor } from '../../ui/Button'
import { Status, type Tone } from '../../ui/Status'
import type { CreditNote } from './api'

/** How a credit note was settled, with the state of its refund. */
export function Settled({ of }: { of: CreditNote }) {
  const { t } = useLingui()
  if (of.status === 'void') return <Status tone="off"><Trans>Void</Trans></Status>
  if (of.settlement === 'credit') return <Status tone="good"><Trans>Added to the balance</Trans></Status>
  if (of.settlement === 'none') return <Status tone="plain"><Trans context="a credit note">Issued</Trans></Status>
  const looks: Record<string, [Tone, string]> = { pending: ['wait', t`Refund in progress`], succeeded: ['good', t`Refunded`], failed: ['bad', t`Refund failed`] }
  const [tone, word] = looks[of.refund_status ?? 'pending'] ?? ['plain', of.refund_status ?? '']
  return <Status tone={tone}>{word}</Status>
}

/** The credit notes of an invoice, with their documents. */
export function NoteTable({ notes, pdf, action }: {
  notes: CreditNote[]
  /** The path of the document. */
  pdf: (note: CreditNote) => string
  action?: (note: CreditNote) => ReactNode
}) {
  const { t } = useLingui()
  const format = useFormat()
  return (
    <table className="table cards rows mid note-list">
      <thead>
        <tr>
          <th scope="col"><Trans>Number</Trans></th><th scope="col"><Trans>For</Trans></th><th scope="col"><Trans>Status</Trans></th><th scope="col" className="num"><Trans>Amount</Trans></th>
          <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
        </tr>
      </thead>
      <tbody>
        {notes.map((note) => {
          const { number } = note
          return (
            <tr key={note.id} className={note.status === 'void' ? 'is-void' : undefined}>
              <td className="k1"><b>{number}</b><small>{format.dayWithYear(note.issue_date)}</small></td>
              <td className="k2">{note.lines.map((line) => line.description).join(', ')}{note.memo && <small>{note.memo}</small>}</td>
              <td className="k3"><Settled of={note} /></td>
              <td className="num k4"><b>{format.money(-note.total.amount_cents, note.total.currency)}</b></td>
              <td className="acts-cell">
                {action?.(note)}
                {note.pdf_url && <ButtonAnchor size="s" look="quiet" icon="download" href={address(pdf(note))} download={`${number}.pdf`} aria-label={t`PDF of ${number}`}>PDF</ButtonAnchor>}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
