import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useSettings } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Canceled, Form } from '../../../ui/Form'
import { Section } from '../../../ui/Page'
import { toast } from '../../../ui/Toast'
import { catalogKey } from '../catalog/reads'
import { TextFields, writtenIn } from '../catalog/TextFields'
import { everyWord } from '../catalog/words'
import { usePlatformMay } from '../may'
import { Affected } from './Affected'
import { priceChanges, summary, type PriceChange } from './changes'
import { useDigits } from './digits'
import { draftOf, givenIn, requestOf, type Draft } from './draft'
import { Entitlements } from './Entitlements'
import { Preview } from './Preview'
import { Prices } from './Prices'
import { Terms } from './Terms'

/** Maps the index of an error in the request to the feature at that index. */
function atFeatures(error: unknown, draft: Draft): never {
  if (!(error instanceof ApiError)) throw error
  const given = givenIn(draft)
  const fields = Object.fromEntries(Object.entries(error.fields).map(([name, messages]) => {
    const at = /^entitlements\.(\d+)/.exec(name)
    return [at ? `entitlement.${given[Number(at[1])]}` : name, messages]
  }))
  throw new ApiError(error.status, error.message, error.code, fields, error.body)
}

/** A price change, with its size if there was a price before. */
function PriceEffect({ of: { currency, before, after } }: { of: PriceChange }) {
  const format = useFormat()
  const [from, to] = [before !== undefined && format.money(before, currency), after !== undefined && format.money(after, currency)]
  if (from && to && before) {
    const by = (after! - before) / before
    const size = format.percent(Math.abs(by))
    return <span><b><Trans>{from} changes to {to}</Trans></b> {by < 0 ? <Trans>({size} less)</Trans> : <Trans>({size} more)</Trans>}</span>
  }
  if (from && to) return <b><Trans>{from} changes to {to}</Trans></b>
  return <b>{to ? <Trans>{to} is new</Trans> : <Trans>{from || currency} is removed</Trans>}</b>
}

/** The form of a plan. Input is kept until it is saved or discarded. */
export function Editor({ plan, onDiscard }: { plan: Schema<'AdminPlan'>; onDiscard: () => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const digits = useDigits()
  const settings = useSettings()
  const offered = settings.locales.length
  const may = usePlatformMay()
  const mayEdit = may('plans.update')
  const before = draftOf(plan, digits)
  const [draft, setDraft] = useState(before)
  const [seen, setSeen] = useState(plan)
  // A price that was imported from the provider in the meantime belongs to the draft, too.
  if (plan !== seen) {
    setSeen(plan)
    const taken = before.prices.filter((one) => !seen.prices.some((old) => old.currency === one.currency) && !draft.prices.some((own) => own.currency === one.currency))
    if (taken.length > 0) setDraft({ ...draft, prices: [...draft.prices, ...taken] })
  }
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change })
  const changes = summary(draft, before, digits, format)
  const written = writtenIn(draft.texts, settings.locales)
  const prices = priceChanges(draft, before, digits)
  const [decide, setDecide] = useState<(sure: boolean) => void>()
  const price = prices.find((one) => one.before !== undefined && one.after !== undefined)
  const every = everyWord({ interval_unit: draft.interval_unit, interval_count: Number(draft.interval_count) || 1 })

  /** Asks for confirmation of price changes, because Enter in a field is easily pressed. */
  async function confirmPrices() {
    if (prices.length === 0) return
    const sure = await new Promise<boolean>((then) => setDecide(() => then))
    setDecide(undefined)
    if (!sure) throw new Canceled()
  }

  async function save() {
    const { body, mistakes } = requestOf(draft, before, digits)
    const wrong = Object.entries(mistakes)
    if (wrong.length > 0) {
      const words = { amount: t`Enter an amount, such as 19.00.`, number: t`Enter a whole number.` }
      throw new ApiError(422, t`Some values are not valid numbers.`, undefined, Object.fromEntries(wrong.map(([name, kind]) => [name, [words[kind]]])))
    }
    await confirmPrices()
    const saved = await api.PATCH('/api/v1/admin/plans/{plan}', { params: { path: { plan: plan.id } }, body }).catch((error: unknown) => atFeatures(error, draft))
    setDraft(draftOf(saved.data!.data, digits))
    await queries.invalidateQueries({ queryKey: catalogKey })
    toast(<Trans>The plan was saved.</Trans>)
  }

  return (
    <Form className="editor" guard onSubmit={save}>
      {({ busy }) => (
        <>
          <div>
            <Section className="part" title={<Trans>Name and description</Trans>} end={settings.locales.length > 1 && <Trans>{written} of {offered} languages</Trans>}>
              <TextFields texts={draft.texts} onChange={(texts) => set({ texts })} />
            </Section>
            <Prices plan={plan} prices={draft.prices} onChange={(prices) => set({ prices })} label={t`Price, ${every}`} mayEdit={mayEdit} />
            <Entitlements of={draft.entitlements} onChange={(entitlements) => set({ entitlements })} mayEdit={mayEdit} />
            <Terms draft={draft} onChange={set} mayEdit={mayEdit} />
          </div>
          <aside className="preview" aria-label={t`What customers see`}>
            <Preview draft={draft} />
            <Affected plan={plan.id} draft={draft} before={before} />
          </aside>
          <Confirm
            calm open={decide !== undefined} onClose={() => decide?.(false)} onConfirm={async () => decide?.(true)}
            title={<Trans>Change the price?</Trans>} action={<Trans>Change price</Trans>}
          >
            <ul className="list">
              {prices.map((one) => <li key={one.currency}><PriceEffect of={one} /></li>)}
            </ul>
            <Affected plan={plan.id} draft={draft} before={before} />
          </Confirm>
          {changes.length > 0 && mayEdit && (
            <div className="savebar">
              <p className="t13 muted" role="status">{format.list(changes)}</p>
              <div className="acts">
                <Button look="quiet" onClick={onDiscard}><Trans>Discard</Trans></Button>
                <Button type="submit" look="primary" busy={busy}>
                  {price ? <Trans>Save — customers keep {format.money(price.before!, price.currency)}</Trans> : <Trans>Save</Trans>}
                </Button>
              </div>
            </div>
          )}
        </>
      )}
    </Form>
  )
}
