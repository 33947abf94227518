import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { Status } from '../../../ui/Status'
import type { Gauge } from '../home/meters'
import { useWords } from '../shared/words'

function Row({ gauge, percent, sent }: { gauge: Gauge; percent: number; sent: string | null }) {
  const words = useWords()
  const format = useFormat()
  const limit = gauge.quota!.quota_limit!
  const share = format.percent(percent / 100)
  const [at, all] = [format.number((limit * percent) / 100), words.quantity(limit, gauge.unit)]
  const day = sent && format.ago(sent)
  return (
    <li>
      <span><b><Trans>{gauge.name} at {share}</Trans></b><span className="sub"><Trans>{at} of {all}</Trans></span></span>
      <span className="end">{day ? <Status tone="good"><Trans>Sent {day}</Trans></Status> : <Status tone="plain"><Trans>Not reached</Trans></Status>}</span>
    </li>
  )
}

/** The mails about a limit, and whether they were sent in this period. */
export function Alerts({ gauges }: { gauges: Gauge[] }) {
  const rows = gauges.flatMap((gauge) => (gauge.quota?.quota_limit ? gauge.quota.alerts.map((alert) => ({ gauge, ...alert })) : []))
  return (
    <Section className="" title={<Trans>Alerts</Trans>} lead={<Trans>Emailed once per period for each limit.</Trans>}>
      {rows.length === 0
        ? <p className="t13 muted"><Trans>Alerts need a plan with limits.</Trans></p>
        : <ul className="list keep alerts">{rows.map((one) => <Row key={`${one.gauge.code} ${one.percent}`} gauge={one.gauge} percent={one.percent} sent={one.sent_at} />)}</ul>}
      <div className="setting-foot"><Link to="/profile" hash="alerts"><Trans>Notification settings</Trans></Link></div>
    </Section>
  )
}
