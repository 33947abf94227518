import { Trans } from '@lingui/react/macro'
import { useMatches } from '@tanstack/react-router'
import { address } from '../api/client'
import { guides } from '../app/guides'
import { Icon } from '../ui/Icon'

/** The link to the heading of the guides that explains the page. On a phone, only its icon is shown. */
export function Guide() {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' })
  const heading = (guides as Record<string, string | null | undefined>)[path]
  if (!heading) return null
  return <a className="guide" href={address(`/docs/${heading}`)} target="_blank" rel="noreferrer"><Icon name="info" /><span><Trans>How this works</Trans></span></a>
}
