import type { Choice } from '../Onboarding'

const store = 'onboarding-choice'

/**
 * Stores the choice while the payment provider's page is open, because the return URL does not
 * contain it.
 */
export function keepChoice(choice: Choice): void {
  try {
    sessionStorage.setItem(store, JSON.stringify(choice))
  } catch {
    // Without storage the plan must be chosen again.
  }
}

/** Returns the stored choice. */
export function keptChoice(): Partial<Choice> {
  try {
    return JSON.parse(sessionStorage.getItem(store) ?? '{}') as Partial<Choice>
  } catch {
    return {}
  }
}
