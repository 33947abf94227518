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
  wrong: ['Something went wrong', 'Une erreur est survenue', 'Se ha producido un error', 'Si è verificato un errore'],
  wrongText: ['Reload the page. If the problem persists, contact support.', 'Rechargez la page. Si le problème persiste, contactez l’assistance.', 'Recargue la página. Si el problema continúa, contacte con soporte.', 'Ricaricare la pagina. Se il problema persiste, contattare l’assistenza.'],
  offline: ['No connection', 'Pas de connexion', 'Sin conexión', 'Nessuna connessione'],
  offlineText: ['Nothing was changed. Try again when you are back online.', 'Rien n’a changé. Réessayez une fois la connexion rétablie.', 'No ha cambiado nada. Inténtelo de nuevo cuando vuelva la conexión.', 'Non è cambiato nulla. Riprovare quando torna la connessione.'],
  tooMany: ['Too many attempts', 'Trop de tentatives', 'Demasiados intentos', 'Troppi tentativi'],
  waitSeconds: [{ one: 'Wait # second and try again.', other: 'Wait # seconds and try again.' }, { one: 'Patientez # seconde, puis réessayez.', other: 'Patientez # secondes, puis réessayez.' }, { one: 'Espere # segundo e inténtelo de nuevo.', other: 'Espere # segundos e inténtelo de nuevo.' }, { one: 'Attendere # secondo e riprovare.', other: 'Attendere # secondi e riprovare.' }],
  waitMoment: ['Wait a moment and try again.', 'Patientez un instant, puis réessayez.', 'Espere un momento e inténtelo de nuevo.', 'Attendere qualche istante e riprovare.'],
  down: ['We cannot do this right now', 'Opération impossible pour le moment', 'No es posible hacerlo en este momento', 'Operazione al momento non disponibile'],
  downText: ['Nothing was lost. Try again in a moment.', 'Rien n’est perdu. Réessayez dans un instant.', 'No se ha perdido nada. Inténtelo de nuevo dentro de un momento.', 'Nulla è andato perso. Riprovare tra qualche istante.'],
  mayNot: ['You do not have permission to do this', 'Vous n’avez pas l’autorisation d’effectuer cette action', 'No tiene permiso para hacer esto', 'Non si dispone dell’autorizzazione necessaria'],
  failed: ['This action failed', 'L’opération a échoué', 'La operación ha fallado', 'L’operazione non è riuscita'],
  signInTitle: ['You are not signed in', 'Vous n’êtes pas connecté', 'No ha iniciado sesión', 'Non è stato effettuato l’accesso'],
  signInText: ['Sign in to continue.', 'Connectez-vous pour continuer.', 'Inicie sesión para continuar.', 'Effettuare l’accesso per continuare.'],
} as const satisfies Record<string, Message>
