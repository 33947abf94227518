package app

// chaos sets how the sandbox's payment provider misbehaves; nil ends it.
func (s *server) chaos(settings map[string]any) {
	s.t.Helper()
	if settings == nil {
		settings = map[string]any{}
	}
	s.call("PUT", "/sandbox/stripe/chaos", "", settings).want(200)
}

var (
	noWebhooks = map[string]any{"webhooks": map[string]any{"drop": 1}}
	pspDown    = map[string]any{"api": map[string]any{"fail_before": 1}}
)
