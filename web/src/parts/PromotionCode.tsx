import { Trans, useLingui } from '@lingui/react/macro'
import { useId, useState } from 'react'
import { ApiError } from '../api/client'
import { Button } from '../ui/Button'
import { Icon } from '../ui/Icon'

/** Returns the reason for which a promotion code was refused; undefined for other errors. */
export function refusedReason(error: unknown): string | undefined {
  return error instanceof ApiError && error.code === 'promotion_code_invalid' ? String(error.body.reason) : undefined
}

/** Reads a preview with a code. If the code is refused, reads it without the code and returns the reason as well. */
export async function readWithCode<T>(code: string | undefined, read: (code: string | undefined) => Promise<T>): Promise<{ data: T; refused?: string }> {
  try {
    return { data: await read(code) }
  } catch (error) {
    const refused = refusedReason(error)
    if (!refused) throw error
    return { data: await read(undefined), refused }
  }
}

/** Returns a function that explains why a code was refused. */
export function useRefusalWords(): (reason: string, plan: string, currency: string) => string {
  const { t } = useLingui()
  return (reason, plan, currency) => {
    switch (reason) {
      case 'unknown': return t`This code does not exist. Check the spelling.`
      case 'inactive': return t`This code is not active.`
      case 'expired': return t`This code has expired.`
      case 'not_for_plan': return t`This code is not valid for ${plan}.`
      case 'not_for_currency': return t`This code is not valid in ${currency}.`
      case 'used_up': return t`This code has been fully redeemed.`
      case 'already_used': return t`You have already used this code.`
      case 'first_purchase_only': return t`This code is only for your first purchase.`
      case 'below_minimum': return t`This code cannot be used for an amount this small.`
      default: return t`This code cannot be used.`
    }
  }
}

/**
 * The promotion code of a purchase: a link, which opens the field, or the code that applies. A
 * refused code stays in the field with the reason. The Enter key applies it and does not submit a form.
 */
export function PromotionCode({ code, onChange, refused, busy, plan, currency, discount }: {
  code: string | undefined; onChange: (to: string | undefined) => void
  /** The reason of the refusal, as in the response. */
  refused?: string
  busy: boolean; plan: string; currency: string
  /** The discount in words, once it is known. */
  discount?: string
}) {
  const { t } = useLingui()
  const words = useRefusalWords()
  const [open, setOpen] = useState(false)
  const [left, setLeft] = useState(false)
  const [text, setText] = useState(code ?? '')
  const id = useId()
  const apply = () => onChange(text.trim() || undefined)
  if (code && !refused && !busy) {
    const shown = code.toUpperCase()
    return (
      <div className="promo" role="status">
        <Icon name="check" /><span><b className="mono">{shown}</b>{discount && <> <Trans>{discount} off</Trans></>}</span>
        <Button size="s" look="quiet" icon="x" aria-label={t`Remove the promotion code ${shown}`} onClick={() => { setText(''); setOpen(false); setLeft(true); onChange(undefined) }} />
      </div>
    )
  }
  if (!open && !code) return <p className="promo-add"><button type="button" className="as-link" autoFocus={left} onClick={() => setOpen(true)}><Trans>Add promotion code</Trans></button></p>
  const error = code && refused && !busy ? words(refused, plan, currency) : undefined
  return (
    <div className="field promo-field">
      <label className="label" htmlFor={id}><Trans>Promotion code</Trans></label>
      <div className="affix-row">
        <input
          id={id} className={`input mono ${error ? 'is-bad' : ''}`} name="promotion_code" autoFocus={open} value={text} maxLength={50} autoComplete="off" autoCapitalize="characters" spellCheck={false}
          aria-invalid={error ? true : undefined} aria-describedby={error ? `${id}-below` : undefined} onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            apply()
          }}
        />
        <Button busy={busy && !!code} onClick={apply}><Trans context="a code">Apply</Trans></Button>
      </div>
      {error && <p className="error" id={`${id}-below`} role="alert"><Icon name="alert" />{error}</p>}
    </div>
  )
}
