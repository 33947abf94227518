import { Trans, useLingui } from '@lingui/react/macro'
import type { CSSProperties } from 'react'
import { lettersOf } from '../app/letters'
import { Status } from './Status'

/** Returns two initials of a name. */
function initials(name: string): string {
  const words = name.trim().split(/\s+/).filter(Boolean)
  const [first = '?', second = ''] = lettersOf(words[0] ?? '')
  const last = words.length > 1 ? lettersOf(words.at(-1)!)[0]! : second
  return (first + last).toUpperCase()
}

/** Returns a hue that depends only on the name. */
function hue(name: string): number {
  let sum = 0
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)!) % 360
  return sum
}

/** A user's avatar or initials. It is decorative: the name is next to it. */
export function Avatar({ name, src, square, large, open }: {
  name: string; src?: string | null; square?: boolean; large?: boolean; open?: boolean
}) {
  const classes = ['av', square && 'sq', large && 'l', open && 'open'].filter(Boolean).join(' ')
  if (src) return <img className={classes} src={src} alt="" />
  return (
    <span className={classes} style={{ '--h': hue(name) } as CSSProperties} aria-hidden="true">
      {open ? '' : initials(name)}
    </span>
  )
}

/** The cell of a list of members that shows whether the member has a second factor. */
export function MfaCell({ on }: { on: boolean | null }) {
  const { t } = useLingui()
  return <td className="k5" data-l={t`MFA`}>{on !== null && <Status tone={on ? 'good' : 'off'}>{on ? <Trans context="a second factor">On</Trans> : <Trans context="a second factor">Off</Trans>}</Status>}</td>
}
