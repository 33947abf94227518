import { Trans } from '@lingui/react/macro'
import { address, ApiError } from '../api/client'
import { useRouter } from '@tanstack/react-router'
import { Empty, Problem, Skeleton } from '../ui/Messages'
import { Page } from '../ui/Page'
import { ButtonLink } from '../ui/Button'
import { useLingui } from '@lingui/react/macro'

/** What stands where a page could not be shown. The frame around it stays. */
export function Failure({ error, reset }: { error: unknown; reset?: () => void }) {
  const router = useRouter()
  async function retry() {
    await router.invalidate()
    reset?.()
  }
  return <main id="content" className="page" tabIndex={-1}><Problem error={error} onRetry={() => void retry()} /></main>
}

/** What stands where a page could not be loaded without a connection. Its files are fetched again with the window. */
export function Unreachable() {
  async function retry() {
    if (await fetch(address('/readyz'), { cache: 'no-store' }).then(() => true, () => false)) location.reload()
  }
  return <main id="content" className="page" tabIndex={-1}><Problem error={new ApiError(0, 'offline', 'offline')} onRetry={() => void retry()} /></main>
}

/** What stands where a page is being loaded. The router shows it after 300 ms. */
export function Pending() {
  return <main id="content" className="page" tabIndex={-1}><Skeleton lines={9} now /></main>
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
