import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api } from '../../api/client'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { useMay } from '../../app/session'
import { History, type SeriesQuery } from '../../parts/usage/History'
import { Button, ButtonLink } from '../../ui/Button'
import { Empty, Skeleton } from '../../ui/Messages'
import { Page, Section } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { NearLimit } from './home/Attention'
import { MeterBar, PlacesBar } from './home/Bars'
import { useGauges, type Gauge, type Period } from './home/meters'
import { PlanTabs } from './plan/PlanTabs'
import { useHere, useSubscription } from './shared/reads'
import { Alerts } from './usage/Alerts'
import { BuyPack } from './usage/BuyPack'
import { CapSection } from './usage/CapSection'
import { Charges } from './usage/Charges'
import { DownloadUsage } from './usage/DownloadUsage'
import { PackBought } from './usage/PackBought'
import { Prepaid } from './usage/Prepaid'
import { usePacks } from './usage/reads'

/** Limits, the history of a meter, prepaid units, charges, a cap, and alerts. */
export default function Usage() {
  const { t } = useLingui()
  const format = useFormat()
  const may = useMay()
  const { usage, gauges, period, settled, charted } = useGauges()
  const packs = usePacks().data ?? []
  const [asked, setAsked] = useState<'csv' | 'pack'>()
  const close = () => setAsked(undefined)
  const sells = packs.length > 0 && may('billing.manage')
  const range = period && format.period(period.start.toISOString(), period.end.toISOString())
  const resets = period && format.day(period.end)
  const actions = !!gauges?.length && (
    <>
      <Button icon="download" onClick={() => setAsked('csv')}><Trans>Download CSV</Trans></Button>
      {sells && <Button look="primary" onClick={() => setAsked('pack')}><Trans>Buy a pack</Trans></Button>}
    </>
  )
  return (
    <Page title={t`Usage`} lead={range && <Trans>Period: {range}. Monthly limits reset on {resets}.</Trans>} actions={actions}>
      <PlanTabs />
      <Read query={usage} lines={8}>
        {() => (!settled || !charted || !gauges || !period ? <Skeleton lines={8} />
          : gauges.length === 0 ? <Empty icon="gauge" title={<Trans>Usage is not limited</Trans>} actions={<ButtonLink to="/plan"><Trans>View plans</Trans></ButtonLink>}><Trans>Meters with a limit appear here.</Trans></Empty>
            : <Body gauges={gauges} period={period} onBuy={sells ? () => setAsked('pack') : undefined} />)}
      </Read>
      {gauges && <DownloadUsage gauges={gauges} period={period} open={asked === 'csv'} onClose={close} />}
      {gauges && <BuyPack packs={packs} gauges={gauges} open={asked === 'pack'} onClose={close} />}
    </Page>
  )
}

function Body({ gauges, period, onBuy }: { gauges: Gauge[]; period: Period; onBuy?: () => void }) {
  const { params } = useHere()
  const [search] = useFilters()
  const may = useMay()
  const status = useSubscription().data?.data?.status
  const paused = ['past_due', 'unpaid', 'paused', 'incomplete'].includes(status ?? '')
  const near = paused ? undefined : gauges.find((one) => one.limit !== null && one.used >= one.limit) ?? gauges.find((one) => one.reached)
  const charted = gauges.find((one) => one.code === search.meter) ?? gauges[0]!
  const read = async (query: SeriesQuery) => (await api.GET('/api/v1/tenant/{tenantId}/usage/series', { params: { ...params, query } })).data!.data
  const byLimit = [...gauges].sort((a, b) => Number(b.limit !== null) - Number(a.limit !== null))
  return (
    <>
      <PackBought />
      {near && <div className="attention"><NearLimit gauge={near} onBuy={onBuy} /></div>}
      <Section className="" title={<Trans>Limits</Trans>}>
        <div className="bars">
          {gauges.some((one) => one.limit !== null) && <div className="bar head" aria-hidden="true"><div /><div className="limit"><span><Trans>Limit</Trans></span></div><div /></div>}
          {byLimit.map((one) => <MeterBar key={one.code} gauge={one} period={period} paused={paused} link charted={one === charted} />)}
          <PlacesBar />
        </div>
      </Section>
      <History
        whose={params.path.tenantId} read={read}
        meters={gauges.map(({ code, name, unit, used, limit, resets }) => ({ code, name, unit, used, limit, start: resets === 'monthly' ? period.start.toISOString() : undefined }))}
      />
      <div className="cols sec">
        <Prepaid gauges={gauges} onBuy={onBuy} />
        <Charges gauges={gauges} />
      </div>
      <div className="cols sec" id="cap">
        <CapSection gauges={gauges} initial={charted.code} mayChange={may('billing.manage')} />
        <Alerts gauges={gauges} />
      </div>
    </>
  )
}
