import type { Message } from '../core/texts'

/** Texts of usage and limits. */
export const usage = {
  since: ['Usage since {from}', 'Consommation depuis le {from}', 'Uso desde el {from}', 'Utilizzo dal giorno {from}'],
  left: [{ one: '# day left', other: '# days left' }, { one: '# jour restant', other: '# jours restants' }, { one: 'queda # día', other: 'quedan # días' }, { one: '# giorno rimanente', other: '# giorni rimanenti' }],
  again: ['Resets on {end}', 'Remise à zéro le {end}', 'Se reinicia el {end}', 'Si azzera il giorno {end}'],
  weekly: ['Resets every Monday', 'Remise à zéro chaque lundi', 'Se reinicia cada lunes', 'Si azzera ogni lunedì'],
  daily: ['Resets every day', 'Remise à zéro chaque jour', 'Se reinicia cada día', 'Si azzera ogni giorno'],
  kept: ['Does not reset', 'Sans remise à zéro', 'No se reinicia', 'Senza azzeramento'],
  noLimit: ['No limit', 'Sans limite', 'Sin límite', 'Senza limite'],
  notInPlan: ['Not in your plan', 'Hors de votre offre', 'Fuera de su plan', 'Non incluso nel piano'],
  reached: ['Limit reached', 'Limite atteinte', 'Límite alcanzado', 'Limite raggiunto'],
  above: ['Over the limit', 'Limite dépassée', 'Por encima del límite', 'Oltre il limite'],
  of: ['{used} of {limit}', '{used} sur {limit}', '{used} de {limit}', '{used} su {limit}'],
  limitReached: ['{name}: limit reached', '{name}\u00a0: limite atteinte', '{name}: se ha alcanzado el límite', '{name}: limite raggiunto'],
  near: ['{name}: limit almost reached', '{name}\u00a0: limite presque atteinte', '{name}: cerca del límite', '{name}: limite quasi raggiunto'],
  used: ['{used} of {limit} used.', 'Consommation\u00a0: {used} sur {limit}.', 'Uso: {used} de {limit}.', 'Utilizzo: {used} su {limit}.'],
  hard: ['Requests over the limit are rejected until usage resets.', 'Les requêtes au-delà de la limite sont refusées jusqu’à la remise à zéro de la consommation.', 'Las solicitudes que superen el límite se rechazan hasta que el uso se reinicie.', 'Le richieste oltre il limite vengono rifiutate fino all’azzeramento dell’utilizzo.'],
  soft: ['Usage over the limit is allowed.', 'Le dépassement de la limite est autorisé.', 'Se permite superar el límite.', 'È consentito superare il limite.'],
  larger: ['View larger plans', 'Voir les offres supérieures', 'Ver planes superiores', 'Vedi piani superiori'],
  none: ['No usage yet', 'Aucune consommation pour l’instant', 'Todavía no hay uso', 'Ancora nessun utilizzo'],
  noneText: ['Your usage and limits will appear here.', 'Votre consommation et vos limites apparaîtront ici.', 'Aquí aparecerán su uso y sus límites.', 'L’utilizzo e i limiti compariranno qui.'],
  usage: ['Usage', 'Consommation', 'Uso', 'Utilizzo'],
} as const satisfies Record<string, Message>
