import type { Message } from '../core/texts'

/** Texts of the plans on sale. */
export const pricing = {
  plans: ['Plans', 'Offres', 'Planes', 'Piani'],
  paid: ['Paid', 'Payée', 'Pagada', 'Pagata'],
  currency: ['Currency', 'Devise', 'Moneda', 'Valuta'],
  value: ['{name}: {amount}', '{name}\u00a0: {amount}', '{name}: {amount}', '{name}: {amount}'],
  unlimited: ['Unlimited', 'Illimité', 'Ilimitado', 'Illimitato'],
  trial: [{ one: '# day free to try', other: '# days free to try' }, { one: '# jour d’essai gratuit', other: '# jours d’essai gratuit' }, { one: '# día de prueba gratis', other: '# días de prueba gratis' }, { one: '# giorno di prova gratuita', other: '# giorni di prova gratuita' }],
  beyond: ['and what you use beyond it', 'plus votre consommation supplémentaire', 'más el uso adicional', 'più l’utilizzo aggiuntivo'],
  meter: ['{name}: {amount} per {unit}', '{name}\u00a0: {amount} par {unit}', '{name}: {amount} por {unit}', '{name}: {amount} per {unit}'],
  meterEach: ['{name}: {amount} each', '{name}\u00a0: {amount} l’unité', '{name}: {amount} por unidad', '{name}: {amount} l’unità'],
  notSold: ['Not available in {currency}', 'Non disponible en {currency}', 'No disponible en {currency}', 'Non disponibile in {currency}'],
  showIn: ['Show in {currency}', 'Afficher en {currency}', 'Ver en {currency}', 'Mostra in {currency}'],
  seats: ['Change seats', 'Modifier les sièges', 'Cambiar puestos', 'Modifica postazioni'],
  try: ['Try {name}', 'Essayer {name}', 'Probar {name}', 'Prova {name}'],
  choose: ['Choose {name}', 'Choisir {name}', 'Elegir {name}', 'Scegli {name}'],
  now: ['Now', 'Actuelle', 'Actual', 'Attuale'],
  current: ['{what} is your plan', 'Votre offre\u00a0: {what}', 'Su plan: {what}', 'Il Suo piano: {what}'],
  none: ['There is nothing to buy yet', 'Aucune offre n’est encore en vente', 'Todavía no hay planes a la venta', 'Non ci sono ancora piani in vendita'],
  noneText: ['As soon as one is offered, you find it here.', 'Les offres apparaîtront ici dès qu’elles seront disponibles.', 'En cuanto se ofrezca alguno, aparecerá aquí.', 'Non appena ne sarà disponibile uno, apparirà qui.'],
  paying: ['Your payment is being confirmed', 'Votre paiement est en cours de confirmation', 'Su pago se está confirmando', 'Il Suo pagamento è in fase di conferma'],
  payingText: ['This takes a few seconds. You need not wait here.', 'Cela prend quelques secondes. Inutile d’attendre ici.', 'Tarda unos segundos. No hace falta que espere aquí.', 'Ci vorrà qualche secondo. Non è necessario attendere qui.'],
  left: ['Nothing was paid', 'Rien n’a été payé', 'No se ha pagado nada', 'Nessun pagamento effettuato'],
  leftText: ['You left the payment before its end. Everything is as it was.', 'Vous avez quitté le paiement avant la fin. Rien n’a changé.', 'Ha salido del pago antes de terminar. Todo sigue como estaba.', 'Ha lasciato il pagamento prima della fine. Non è cambiato nulla.'],
} as const satisfies Record<string, Message>
