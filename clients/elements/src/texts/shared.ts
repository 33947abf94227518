import type { Message } from '../core/texts'

/** Texts of all elements. */
export const shared = {
  cancel: ['Cancel', 'Annuler', 'Cancelar', 'Annulla'],
  close: ['Close', 'Fermer', 'Cerrar', 'Chiudi'],
  retry: ['Try again', 'Réessayer', 'Reintentar', 'Riprova'],
  loading: ['Loading', 'Chargement', 'Cargando', 'Caricamento'],
  signIn: ['Sign in', 'Se connecter', 'Iniciar sesión', 'Accedi'],
  save: ['Save', 'Enregistrer', 'Guardar', 'Salva'],
  saved: ['Saved', 'Modifications enregistrées', 'Cambios guardados', 'Modifiche salvate'],
  wrong: ['Something went wrong here', 'Une erreur est survenue', 'Se ha producido un error', 'Si è verificato un errore'],
  wrongText: ['Load the page again. If it stays like this, tell us.', 'Rechargez la page. Si le problème persiste, contactez-nous.', 'Recargue la página. Si el problema continúa, avísenos.', 'Ricaricare la pagina. Se il problema persiste, contattare l’assistenza.'],
  offline: ['No connection', 'Pas de connexion', 'Sin conexión', 'Nessuna connessione'],
  offlineText: ['Nothing was changed. Try again when you are back online.', 'Rien n’a été modifié. Réessayez une fois la connexion rétablie.', 'No se ha modificado nada. Inténtelo de nuevo cuando vuelva a tener conexión.', 'Nulla è stato modificato. Riprovare quando la connessione sarà ripristinata.'],
  tooMany: ['Too many attempts', 'Trop de tentatives', 'Demasiados intentos', 'Troppi tentativi'],
  waitSeconds: [{ one: 'Wait # second and try again.', other: 'Wait # seconds and try again.' }, { one: 'Patientez # seconde, puis réessayez.', other: 'Patientez # secondes, puis réessayez.' }, { one: 'Espere # segundo e inténtelo de nuevo.', other: 'Espere # segundos e inténtelo de nuevo.' }, { one: 'Attendere # secondo e riprovare.', other: 'Attendere # secondi e riprovare.' }],
  waitMoment: ['Wait a moment and try again.', 'Patientez un instant, puis réessayez.', 'Espere un momento e inténtelo de nuevo.', 'Attendere un momento e riprovare.'],
  down: ['We cannot do this right now', 'Opération impossible pour le moment', 'No es posible hacerlo en este momento', 'Operazione al momento non disponibile'],
  downText: ['Nothing is lost. Try again in a moment.', 'Rien n’est perdu. Réessayez dans un instant.', 'No se ha perdido nada. Inténtelo de nuevo en un momento.', 'Nulla è andato perso. Riprovare tra un momento.'],
  mayNot: ['You may not do this', 'Vous n’avez pas l’autorisation de faire cela', 'No tiene permiso para hacer esto', 'Non dispone dell’autorizzazione necessaria'],
  failed: ['This did not work', 'Cela n’a pas fonctionné', 'No ha funcionado', 'L’operazione non è riuscita'],
  signInTitle: ['You are not signed in', 'Vous n’êtes pas connecté', 'No ha iniciado sesión', 'Non è stato effettuato l’accesso'],
  signInText: ['Sign in to see this.', 'Connectez-vous pour voir cette page.', 'Inicie sesión para ver esta página.', 'Effettuare l’accesso per vedere questa pagina.'],
} as const satisfies Record<string, Message>
