import { t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'
import { seats } from './payments'
import type { Said } from './say'
import type { Entry, SubscriptionFacts } from './types'

/** What the change is worth a month. */
function worth(facts: SubscriptionFacts, before: SubscriptionFacts | null, format: Formats): string | undefined {
  if (!facts.mrr) return undefined
  const change = facts.mrr.amount_cents - (before?.mrr?.currency === facts.mrr.currency ? before.mrr.amount_cents : 0)
  if (change === 0) return undefined
  const sum = format.money(change, facts.mrr.currency, { sign: true })
  return t`${sum} a month`
}

function sayChanged(facts: SubscriptionFacts, before: SubscriptionFacts | null, small: string | undefined): Said {
  const [plan, old] = [facts.plan?.name ?? '', before?.plan?.name ?? '']
  if (before && plan !== old) return { icon: 'swap', text: t`Went from ${old} to ${plan}`, small }
  const [now, then] = [facts.quantity ?? 1, before?.quantity ?? 1]
  if (before && now !== then) return { icon: 'team', text: t`Went from ${then} to ${seats(now)}`, small }
  return { icon: 'swap', text: t`The subscription changed`, small }
}

/** What a subscription did by itself; what a person did to it is a change. */
export function saySubscription(entry: Entry, format: Formats): Said | undefined {
  if (entry.id.startsWith('audit')) return undefined
  const { facts } = entry
  const before = (facts.before ?? null) as SubscriptionFacts | null
  const plan = facts.plan?.name ?? ''
  const small = worth(facts, before, format)
  switch (entry.type) {
    case 'subscription.created':
      return { icon: 'plus', text: (facts.quantity ?? 1) > 1 ? t`Began ${plan} with ${seats(facts.quantity!)}` : t`Began ${plan}`, small }
    case 'subscription.changed': return sayChanged(facts, before, small)
    case 'subscription.renewed': {
      if (!facts.period_end) return { icon: 'undo', text: t`${plan} was renewed` }
      const day = format.day(facts.period_end)
      return { icon: 'undo', text: t`${plan} was renewed until ${day}` }
    }
    case 'subscription.past_due': return { icon: 'alert', tone: 'bad', text: t`${plan} is past due` }
    case 'subscription.recovered': return { icon: 'check', text: t`${plan} is paid again` }
    case 'subscription.ended': return { icon: 'x', text: t`${plan} ended`, small }
    default: return undefined
  }
}
