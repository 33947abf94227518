import type { Message } from '../core/texts'

/** Texts of the plan list. */
export const pricing = {
  plans: ['Plans', 'Offres', 'Planes', 'Piani'],
  paid: ['Billing interval', 'Périodicité de facturation', 'Periodicidad de facturación', 'Periodicità'],
  currency: ['Currency', 'Devise', 'Moneda', 'Valuta'],
  value: ['{name}: {amount}', '{name}\u00a0: {amount}', '{name}: {amount}', '{name}: {amount}'],
  unlimited: ['Unlimited', 'Illimité', 'Ilimitado', 'Senza limite'],
  trial: [{ one: '#-day free trial', other: '#-day free trial' }, { one: '# jour d’essai gratuit', other: '# jours d’essai gratuit' }, { one: '# día de prueba gratis', other: '# días de prueba gratis' }, { one: '# giorno di prova gratuita', other: '# giorni di prova gratuita' }],
  beyond: ['plus additional usage', 'plus votre consommation supplémentaire', 'más el uso adicional', 'più l’utilizzo aggiuntivo'],
  meter: ['{name}: {amount} per {unit}', '{name}\u00a0: {amount} par {unit}', '{name}: {amount} por {unit}', '{name}: {amount} per {unit}'],
  meterEach: ['{name}: {amount} each', '{name}\u00a0: {amount} l’unité', '{name}: {amount} por unidad', '{name}: {amount} per unità'],
  notSold: ['Not available in {currency}', 'Non disponible en {currency}', 'No disponible en {currency}', 'Non disponibile in {currency}'],
  showIn: ['Show in {currency}', 'Afficher en {currency}', 'Ver en {currency}', 'Mostra in {currency}'],
  seats: ['Change seats', 'Modifier les sièges', 'Cambiar puestos', 'Modifica postazioni'],
  try: ['Try {name}', 'Essayer {name}', 'Probar {name}', 'Prova {name}'],
  choose: ['Choose {name}', 'Choisir {name}', 'Elegir {name}', 'Scegli {name}'],
  now: ['Current', 'Actuelle', 'Actual', 'Attuale'],
  current: ['Your plan: {what}', 'Votre offre\u00a0: {what}', 'Su plan: {what}', 'Piano attuale: {what}'],
  none: ['No plans yet', 'Aucune offre pour l’instant', 'Todavía no hay planes', 'Ancora nessun piano'],
  noneText: ['Plans will appear here as soon as they are available.', 'Les offres apparaîtront ici dès qu’elles seront disponibles.', 'Los planes aparecerán aquí en cuanto estén disponibles.', 'I piani compariranno qui non appena saranno disponibili.'],
  paying: ['Your payment is being confirmed', 'Votre paiement est en cours de confirmation', 'Se está confirmando su pago', 'Pagamento in fase di conferma'],
  payingText: ['This takes a few seconds. You do not have to wait here.', 'Cela prend quelques secondes. Inutile d’attendre ici.', 'Tarda unos segundos. No hace falta que espere aquí.', 'Ci vorrà qualche secondo. Non serve attendere qui.'],
  left: ['No payment was made', 'Aucun paiement n’a été effectué', 'No se ha pagado nada', 'Nessun pagamento effettuato'],
  leftText: ['You left the payment page before you finished. Nothing was changed.', 'Vous avez quitté la page de paiement avant la fin. Rien n’a changé.', 'Ha salido de la página de pago antes de terminar. No ha cambiado nada.', 'La pagina di pagamento è stata chiusa prima di terminare. Non è cambiato nulla.'],
} as const satisfies Record<string, Message>
