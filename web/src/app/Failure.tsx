import { Trans } from '@lingui/react/macro'
import { Empty, Problem } from '../ui/Messages'
import { Page } from '../ui/Page'
import { ButtonLink } from '../ui/Button'
import { useLingui } from '@lingui/react/macro'

/** What stands where a page could not be shown. */
export function Failure({ error, reset }: { error: unknown; reset?: () => void }) {
  return <main id="content" className="page"><Problem error={error} onRetry={reset} /></main>
}

/** What stands at an address that nothing has. */
export function NotFound() {
  const { t } = useLingui()
  return (
    <Page title={t`Not found`} heading={null}>
      <Empty level="h1" icon="search" title={<Trans>There is nothing at this address</Trans>} actions={<ButtonLink to="/"><Trans>To the home page</Trans></ButtonLink>}>
        <Trans>The link may be old, or a letter is missing.</Trans>
      </Empty>
    </Page>
  )
}
