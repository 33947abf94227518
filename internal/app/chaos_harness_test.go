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

// whenBack repeats a request until it no longer ends in 502: after failures the
// service leaves the provider alone for a while.
func (s *server) whenBack(try func() reply) reply {
	s.t.Helper()
	var a reply
	eventually(s.t, "the provider's return", func() bool { a = try(); return a.status != 502 })
	return a
}
