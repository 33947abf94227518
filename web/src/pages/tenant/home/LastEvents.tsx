import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useTenant } from '../../../app/session'
import { Events } from '../../../parts/timeline/Events'
import { timelineQuery } from '../../../parts/timeline/reads'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { useNameOf } from '../activity/names'

export function useLastEvents() {
  return useInfiniteQuery(timelineQuery({ own: useTenant().id }, undefined, 5))
}

/** The latest activity of the organization. */
export function LastEvents() {
  const name = useNameOf()
  const entries = useLastEvents()
  return (
    <Section className="" title={<Trans>Recent activity</Trans>} end={<Link to="/activity"><Trans>All activity</Trans></Link>}>
      <Read query={entries}>
        {(found) => (found.length > 0 ? <Events entries={found} name={name} withInvoices /> : <p className="t13 muted"><Trans>Nothing yet.</Trans></p>)}
      </Read>
    </Section>
  )
}
