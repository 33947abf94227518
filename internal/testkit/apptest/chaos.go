package apptest

// Chaos sets how the sandbox's payment provider misbehaves from now on; nil ends it.
func (s *Server) Chaos(settings map[string]any) {
	s.T.Helper()
	if settings == nil {
		settings = map[string]any{}
	}
	s.Call("PUT", "/sandbox/stripe/chaos", "", settings).Want(200)
}

// What [Server.Chaos] is often asked for.
var (
	// ChaosNoWebhooks keeps every notification from arriving.
	ChaosNoWebhooks = map[string]any{"webhooks": map[string]any{"drop": 1}}
	// ChaosProviderDown fails every call of the provider before it takes effect.
	ChaosProviderDown = map[string]any{"api": map[string]any{"fail_before": 1}}
)

// RetryWhileDown repeats a request until it no longer ends in 502: after failures the
// service leaves the provider alone for a while.
func (s *Server) RetryWhileDown(try func() Reply) Reply {
	s.T.Helper()
	var a Reply
	Eventually(s.T, "the provider's return", func() bool { a = try(); return a.Status != 502 })
	return a
}
