import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { $api } from '../../../api/client'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { Events } from '../activity/Events'
import { useHere } from '../shared/reads'

/** The last things that anybody did here. */
export function LastEvents() {
  const here = useHere()
  const entries = $api.useQuery('get', '/api/v1/tenant/{tenantId}/audit-logs', { params: { ...here.params, query: { per_page: 5 } } })
  return (
    <Section className="" title={<Trans>What happened last</Trans>} end={<Link to="/activity"><Trans>All activity</Trans></Link>}>
      <Read query={entries}>
        {({ data }) => (data.length > 0 ? <Events entries={data} /> : <p className="t13 muted"><Trans>Nothing yet.</Trans></p>)}
      </Read>
    </Section>
  )
}
