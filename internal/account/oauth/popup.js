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
  } else if (document.querySelector("main").dataset.own && message.code) {
    finish(document.querySelector("main").dataset.own);
  }

  // finish ends a login that did not begin in a popup, in cookie mode.
  async function finish(own) {
    const session = await fetch("/csrf-cookie", { credentials: "include" });
    await fetch("/api/v1/auth/oauth/exchange", {
      method: "POST",
      credentials: "include",
      headers: { "Content-Type": "application/json", "X-XSRF-TOKEN": session.headers.get("X-CSRF-Token") },
      body: JSON.stringify({ code: message.code }),
    });
    const back = sessionStorage.getItem("back");
    sessionStorage.removeItem("back");
    location.replace(back && back.startsWith("/") && !back.startsWith("//") ? back : own);
  }
})();
