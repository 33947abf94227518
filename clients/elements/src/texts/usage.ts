import type { Message } from '../core/texts'

/** Texts of what is used. */
export const usage = {
  since: ['Usage since {from}', 'Consommation depuis le {from}', 'Uso desde el {from}', 'Utilizzo dal giorno {from}'],
  left: [{ one: '# day left', other: '# days left' }, { one: '# jour restant', other: '# jours restants' }, { one: 'queda # día', other: 'quedan # días' }, { one: '# giorno rimanente', other: '# giorni rimanenti' }],
  again: ['Starts again on {end}', 'Remise à zéro le {end}', 'Se reinicia el {end}', 'Si azzera il giorno {end}'],
  weekly: ['Starts again every Monday', 'Remise à zéro chaque lundi', 'Se reinicia cada lunes', 'Si azzera ogni lunedì'],
  daily: ['Starts again every day', 'Remise à zéro chaque jour', 'Se reinicia cada día', 'Si azzera ogni giorno'],
  kept: ['What is kept', 'Sans remise à zéro', 'No se reinicia', 'Senza azzeramento'],
  noLimit: ['No limit', 'Sans limite', 'Sin límite', 'Senza limite'],
  notInPlan: ['Not in your plan', 'Hors de votre offre', 'Fuera de su plan', 'Non incluso nel Suo piano'],
  reached: ['The limit is reached', 'Limite atteinte', 'Límite alcanzado', 'Limite raggiunto'],
  above: ['Above the limit', 'Limite dépassée', 'Por encima del límite', 'Oltre il limite'],
  of: ['{used} of {limit}', '{used} sur {limit}', '{used} de {limit}', '{used} su {limit}'],
  limitReached: ['{name}: the limit is reached', '{name}\u00a0: la limite est atteinte', '{name}: se ha alcanzado el límite', '{name}: il limite è raggiunto'],
  near: ['{name}: the limit is near', '{name}\u00a0: la limite est proche', '{name}: el límite está cerca', '{name}: il limite è vicino'],
  used: ['{used} of {limit} are used.', 'Consommation\u00a0: {used} sur {limit}.', 'Uso: {used} de {limit}.', 'Utilizzo: {used} su {limit}.'],
  hard: ['What goes beyond the limit is refused until usage starts again.', 'Tout ce qui dépasse la limite est refusé jusqu’à la remise à zéro de la consommation.', 'Lo que supere el límite se rechaza hasta que el uso se reinicie.', 'Ciò che supera il limite viene rifiutato fino all’azzeramento dell’utilizzo.'],
  soft: ['Nothing is refused beyond the limit.', 'Rien n’est refusé au-delà de la limite.', 'No se rechaza nada por encima del límite.', 'Oltre il limite non viene rifiutato nulla.'],
  larger: ['See larger plans', 'Voir les offres supérieures', 'Ver planes superiores', 'Vedi i piani superiori'],
  none: ['Nothing is measured yet', 'Rien n’est encore mesuré', 'Todavía no se mide nada', 'Non viene ancora misurato nulla'],
  noneText: ['What you use is shown here.', 'Votre consommation s’affichera ici.', 'Aquí se mostrará su uso.', 'Qui viene mostrato l’utilizzo.'],
  usage: ['Usage', 'Consommation', 'Uso', 'Utilizzo'],
} as const satisfies Record<string, Message>
