"use strict";

(() => {
  const query = new URLSearchParams(location.search);
  // Keep the one-time code out of the browser history.
  history.replaceState(null, "", location.pathname);
  const message = { type: "oauth-callback" };
  for (const key of ["code", "error"]) {
    const value = query.get(key);
    if (value !== null) {
      message[key] = value;
    }
  }
  const { origin, own, signIn } = document.querySelector("main").dataset;
  // The settings page of a connection waits for the result of its test in another tab.
  const result = query.get("test") ?? message.error;
  if (result) {
    const channel = new BroadcastChannel("tenantry-sso-test");
    channel.postMessage({ result });
    channel.close();
  }
  if (window.opener) {
    window.opener.postMessage(message, origin);
    window.close();
  } else if (signIn) {
    // On a developer's machine the page may use another loopback name.
    location.replace(new URL(signIn).pathname + "?" + query);
  } else if (own && message.code) {
    finish(own);
  }

  // finish completes a login that did not begin in a popup, in cookie mode.
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
