import { Trans } from '@lingui/react/macro'
import { ButtonLink } from './Button'

/** The action of a list in which nothing matches: shows the whole list. */
export function ClearFilters() {
  return <ButtonLink to="." search={{}}><Trans>Clear filters</Trans></ButtonLink>
}
