package apptest

// Chaos configures failures of the sandbox's payment provider; nil ends them. It first waits for due
// jobs, because a job could read a change that no notification is to report.
func (s *Server) Chaos(settings map[string]any) {
	s.T.Helper()
	if settings == nil {
		settings = map[string]any{}
	} else {
		s.AwaitJobs()
	}
	s.Call("PUT", "/sandbox/stripe/chaos", "", settings).Want(200)
}

// Common settings for [Server.Chaos].
var (
	// ChaosNoWebhooks drops all notifications.
	ChaosNoWebhooks = map[string]any{"webhooks": map[string]any{"drop": 1}}
	// ChaosProviderDown fails every call to the provider before it takes effect.
	ChaosProviderDown = map[string]any{"api": map[string]any{"fail_before": 1}}
)

// RetryWhileDown repeats a request until its status is not 502. After failures the service's
// circuit breaker stays open for a while.
func (s *Server) RetryWhileDown(try func() Reply) Reply {
	s.T.Helper()
	var a Reply
	Eventually(s.T, "the provider's return", func() bool { a = try(); return a.Status != 502 })
	return a
}
