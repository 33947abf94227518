import type { Message } from '../core/texts'

/** Texts about plans, prices and payments. */
export const plans = {
  day: ['a day', 'par jour', 'al día', 'al giorno'],
  week: ['a week', 'par semaine', 'a la semana', 'alla settimana'],
  month: ['a month', 'par mois', 'al mes', 'al mese'],
  year: ['a year', 'par an', 'al año', 'all’anno'],
  days: [{ one: 'every # day', other: 'every # days' }, { one: 'chaque jour', other: 'tous les # jours' }, { one: 'cada día', other: 'cada # días' }, { one: 'ogni giorno', other: 'ogni # giorni' }],
  weeks: [{ one: 'every # week', other: 'every # weeks' }, { one: 'chaque semaine', other: 'toutes les # semaines' }, { one: 'cada semana', other: 'cada # semanas' }, { one: 'ogni settimana', other: 'ogni # settimane' }],
  months: [{ one: 'every # month', other: 'every # months' }, { one: 'chaque mois', other: 'tous les # mois' }, { one: 'cada mes', other: 'cada # meses' }, { one: 'ogni mese', other: 'ogni # mesi' }],
  years: [{ one: 'every # year', other: 'every # years' }, { one: 'chaque année', other: 'tous les # ans' }, { one: 'cada año', other: 'cada # años' }, { one: 'ogni anno', other: 'ogni # anni' }],
  seatDay: ['per seat per day', 'par siège et par jour', 'por puesto y día', 'per postazione al giorno'],
  seatWeek: ['per seat per week', 'par siège et par semaine', 'por puesto y semana', 'per postazione alla settimana'],
  seatMonth: ['per seat per month', 'par siège et par mois', 'por puesto y mes', 'per postazione al mese'],
  seatYear: ['per seat per year', 'par siège et par an', 'por puesto y año', 'per postazione all’anno'],
  seatEach: ['per seat, {time}', 'par siège, {time}', 'por puesto, {time}', 'per postazione, {time}'],
  seats: [{ one: '# seat', other: '# seats' }, { one: '# siège', other: '# sièges' }, { one: '# puesto', other: '# puestos' }, { one: '# postazione', other: '# postazioni' }],
  planSeats: ['{name}, {places}', '{name}, {places}', '{name}, {places}', '{name}, {places}'],
  free: ['Free', 'Gratuit', 'Gratis', 'Gratis'],
} as const satisfies Record<string, Message>
