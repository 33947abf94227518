import type { Choice } from '../Onboarding'

const store = 'onboarding-choice'

/** Keeps a choice while the payment provider's page is open: the way back from there does not have it. */
export function keepChoice(choice: Choice): void {
  try {
    sessionStorage.setItem(store, JSON.stringify(choice))
  } catch {
    // Without storage the plan is chosen again.
  }
}

/** The choice that was kept. */
export function keptChoice(): Partial<Choice> {
  try {
    return JSON.parse(sessionStorage.getItem(store) ?? '{}') as Partial<Choice>
  } catch {
    return {}
  }
}
