import type { Language } from '../../../app/locale'
import type { Schema } from '../../../api/client'

/**
 * The words of a price list in each language. The preview can show a language other than the
 * reader's, so they are not in the console's catalogs.
 */
interface OfferWords {
  every: (unit: Schema<'IntervalUnit'>, count: number) => string
  seat: string
  usage: string
  trial: (days: number) => string
  choose: (plan: string) => string
}

const units: Record<Language, Record<Schema<'IntervalUnit'>, [one: string, other: string]>> = {
  en: { day: ['a day', 'every # days'], week: ['a week', 'every # weeks'], month: ['a month', 'every # months'], year: ['a year', 'every # years'] },
  fr: { day: ['par jour', 'tous les # jours'], week: ['par semaine', 'toutes les # semaines'], month: ['par mois', 'tous les # mois'], year: ['par an', 'tous les # ans'] },
  es: { day: ['al día', 'cada # días'], week: ['a la semana', 'cada # semanas'], month: ['al mes', 'cada # meses'], year: ['al año', 'cada # años'] },
  it: { day: ['al giorno', 'ogni # giorni'], week: ['a settimana', 'ogni # settimane'], month: ['al mese', 'ogni # mesi'], year: ['all’anno', 'ogni # anni'] },
}

const every = (language: Language) => (unit: Schema<'IntervalUnit'>, count: number) => {
  const [one, other] = units[language][unit]
  return count === 1 ? one : other.replace('#', String(count))
}

export const offerWords: Record<Language, OfferWords> = {
  en: { every: every('en'), seat: 'per seat', usage: 'plus usage', trial: (days) => `${days} days free`, choose: (plan) => `Choose ${plan}` },
  fr: { every: every('fr'), seat: 'par siège', usage: 'plus la consommation', trial: (days) => `${days} jours gratuits`, choose: (plan) => `Choisir ${plan}` },
  es: { every: every('es'), seat: 'por puesto', usage: 'más el uso', trial: (days) => `${days} días gratis`, choose: (plan) => `Elegir ${plan}` },
  it: { every: every('it'), seat: 'per postazione', usage: 'più i consumi', trial: (days) => `${days} giorni gratuiti`, choose: (plan) => `Scegli ${plan}` },
}
