import type { Choice } from '../Onboarding'

// The input is in localStorage, so that a closed tab loses nothing. It never contains a password.
const choiceStore = 'onboarding-choice'
const entriesStore = 'onboarding-entries'
const lifetime = 86_400_000 // a day

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify({ until: Date.now() + lifetime, value }))
  } catch {
    // Without storage the visitor starts over.
  }
}

function read<T extends object>(name: string): Partial<T> {
  try {
    const { until, value } = JSON.parse(localStorage.getItem(name) ?? '{}') as { until?: number; value?: T }
    return value && until && until > Date.now() ? value : {}
  } catch {
    return {}
  }
}

function remove(name: string): void {
  try {
    localStorage.removeItem(name)
  } catch {
    // Without storage nothing was stored.
  }
}

/** Stores the choice for a return from the payment page, whose URL does not contain it, and for a closed tab. */
export const keepChoice = (choice: Choice) => write(choiceStore, choice)

/** Returns the stored choice. */
export const keptChoice = () => read<Choice>(choiceStore)

/** Stores the value of a field. */
export const keepEntry = (name: string, value: string) => write(entriesStore, { ...keptEntries(), [name]: value })

/** Returns the stored values by field. */
export const keptEntries = () => read<Record<string, string>>(entriesStore)

/** Removes the stored values, once the service has them. */
export const forgetEntries = () => remove(entriesStore)

/** Removes the stored choice, once it was bought or rejected. */
export const forgetChoice = () => remove(choiceStore)
