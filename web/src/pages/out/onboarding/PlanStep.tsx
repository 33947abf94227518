import { Trans } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../../api/client'
import { currenciesOf } from '../../../app/plans'
import { Button } from '../../../ui/Button'
import { CurrencyChoice } from '../../../ui/CurrencyChoice'
import { PlanCards } from '../PlanCards'
import type { Choice } from '../Onboarding'

/** Chooses the plan. A registered user can continue without one. */
export function PlanStep({ choice, plans, canSkip }: { choice: Choice; plans: Schema<'Plan'>[]; canSkip?: boolean }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const choose = (currency: string) => void navigate({ to: '/onboarding', search: { currency, code: choice.code, seats: choice.seats > 1 ? String(choice.seats) : undefined }, replace: true })
  const skip = useMutation({
    mutationFn: () => api.PATCH('/api/v1/onboarding/complete-setup', { body: {} }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      await navigate({ to: '/', replace: true })
    },
  })
  return (
    <div className="board-wide">
      <div className="page-head">
        <div>
          <h1><Trans>Choose a plan</Trans></h1>
          <p><Trans>You can change it anytime.</Trans></p>
        </div>
        <div className="acts"><CurrencyChoice currencies={currenciesOf(plans)} value={choice.currency} onChange={choose} /></div>
      </div>
      <PlanCards
        plans={plans} currency={choice.currency} onCurrency={choose}
        action={(plan) => (
          <Button block onClick={() => void navigate({ to: '/onboarding', search: { plan: plan.slug, currency: choice.currency, code: choice.code, seats: choice.seats > 1 ? String(choice.seats) : undefined } })}>
            {plan.trial_days > 0 ? <Trans>Try {plan.name}</Trans> : <Trans>Choose {plan.name}</Trans>}
          </Button>
        )}
      />
      {canSkip && (
        <p className="help center gap-top">
          <button type="button" className="as-link" onClick={() => skip.mutate()}><Trans>Continue without a plan for now</Trans></button>
        </p>
      )}
    </div>
  )
}
