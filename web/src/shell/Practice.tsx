import { Trans, useLingui } from '@lingui/react/macro'
import { Icon } from '../ui/Icon'

const isPractice = document.querySelector('meta[name=practice]') !== null
if (isPractice) document.documentElement.classList.add('with-sandbox')

/**
 * The notice that a sandbox replaces the payment provider, if the page has the service's marker for
 * it. It is below the page on wide screens, and above it on phones.
 */
export function Practice() {
  const { t } = useLingui()
  if (!isPractice) return null
  return (
    <aside className="sandbox folded practice" aria-label={t`Practice mode`}>
      <div className="sb-top">
        <span className="word"><Icon name="flag" /><Trans>Practice mode</Trans></span>
        <span><Trans>Payments are simulated. No money moves.</Trans></span>
      </div>
    </aside>
  )
}
