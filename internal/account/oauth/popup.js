"use strict";

(() => {
  const query = new URLSearchParams(location.search);
  // The code is used once and soon; it need not stay in the history either.
  history.replaceState(null, "", location.pathname);
  const message = { type: "oauth-callback" };
  for (const key of ["code", "error"]) {
    const value = query.get(key);
    if (value !== null) {
      message[key] = value;
    }
  }
  if (window.opener) {
    window.opener.postMessage(message, document.querySelector("main").dataset.origin);
    window.close();
  }
})();
