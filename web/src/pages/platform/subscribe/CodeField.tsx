import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from '../../../ui/Button'
import { Field } from '../../../ui/Field'
import { Icon } from '../../../ui/Icon'

/** Returns why a code cannot be used, as the operator reads it. */
export function useReasonWords(): (reason: string, code: string, plan: string, currency: string) => string {
  const { t } = useLingui()
  return (reason, code, plan, currency) => {
    switch (reason) {
      case 'unknown': return t`The code “${code}” does not exist.`
      case 'inactive': return t`This code is not active.`
      case 'expired': return t`This code has expired.`
      case 'not_for_plan': return t`This code is not valid for ${plan}.`
      case 'not_for_currency': return t`This code is not available in ${currency}.`
      case 'used_up': return t`This code has been used up.`
      case 'already_used': return t`This tenant has already used this code.`
      case 'first_purchase_only': return t`This code is for new customers only.`
      case 'below_minimum': return t`The discounted amount is below the minimum that can be charged.`
      default: return t`This code cannot be used.`
    }
  }
}

/** A promotion code, which is applied with a button or the Enter key. */
export function CodeField({ code, onChange, problem, discount, busy }: {
  code: string; onChange: (to: string) => void
  /** Why the applied code cannot be used. */
  problem?: string
  /** The discount of the applied code in words. */
  discount?: string
  busy: boolean
}) {
  const { t } = useLingui()
  const [text, setText] = useState(code)
  const apply = () => onChange(text.trim())
  const applied = code !== '' && code === text.trim() && !problem && !busy && discount
  return (
    <Field label={t`Promotion code`} hint={t`optional`} name="promotion_code" error={problem}>
      {({ bad, ...field }) => (
        <>
          <div className="affix-row">
            <input
              {...field} className={`input mono ${bad}`} value={text} maxLength={50} autoComplete="off" autoCapitalize="characters" spellCheck={false} onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return
                event.preventDefault()
                apply()
              }}
            />
            <Button busy={busy && code !== ''} onClick={apply}><Trans>Apply code</Trans></Button>
          </div>
          {applied && <p className="okline" role="status"><Icon name="check" /><span>{discount}</span></p>}
        </>
      )}
    </Field>
  )
}
