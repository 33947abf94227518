import { Trans } from '@lingui/react/macro'
import { address, ApiError } from '../api/client'
import { useRouter } from '@tanstack/react-router'
import { Empty, Problem, Skeleton } from '../ui/Messages'
import { Page } from '../ui/Page'
import { ButtonLink } from '../ui/Button'
import { useLingui } from '@lingui/react/macro'

/** Shown when a page throws an error. The frame around it remains. */
export function Failure({ error, reset }: { error: unknown; reset?: () => void }) {
  const router = useRouter()
  async function retry() {
    await router.invalidate()
    reset?.()
  }
  return <main id="content" className="page" tabIndex={-1}><Problem error={error} onRetry={() => void retry()} /></main>
}

/**
 * Shown when a page cannot be loaded without a connection. A reload of the window fetches its
 * files.
 */
export function Unreachable() {
  async function retry() {
    if (await fetch(address('/readyz'), { cache: 'no-store' }).then(() => true, () => false)) location.reload()
  }
  return <main id="content" className="page" tabIndex={-1}><Problem error={new ApiError(0, 'offline', 'offline')} onRetry={() => void retry()} /></main>
}

/** Shown while a page loads, after 300 ms. */
export function Pending() {
  return <main id="content" className="page" tabIndex={-1}><Skeleton lines={9} now /></main>
}

/** Shown for an unknown path. */
export function NotFound() {
  const { t } = useLingui()
  return (
    <Page title={t`Page not found`} heading={null}>
      <Empty level="h1" icon="search" title={<Trans>This page does not exist</Trans>} actions={<ButtonLink to="/"><Trans>Go to home page</Trans></ButtonLink>}>
        <Trans>The link may be out of date or incomplete.</Trans>
      </Empty>
    </Page>
  )
}
