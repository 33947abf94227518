package rest

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
)

// maxStrangers bounds how many refused origins are told of, because anybody can make them up.
const maxStrangers = 100

// strangers are the origins that are not first-party and were told of, each once: a browser
// says nothing but that the answer could not be read.
type strangers struct {
	mu   sync.Mutex
	told map[string]bool
}

// tell logs that the pages of an origin get no answers, and what would change that.
func (s *strangers) tell(ctx context.Context, log *slog.Logger, origin string) {
	if !s.isNew(origin) {
		return
	}
	host := origin
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		host = u.Host
	}
	log.WarnContext(ctx, "pages of this origin can neither read answers nor use cookies", "origin", origin,
		"allow", "TENANTRY_FRONTEND_URL="+origin+" if it is the frontend, or TENANTRY_FIRST_PARTY_HOSTS="+host+" beside a frontend of the same scheme")
}

func (s *strangers) isNew(origin string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[origin] || len(s.told) >= maxStrangers || len(origin) > 300 {
		return false
	}
	if s.told == nil {
		s.told = map[string]bool{}
	}
	s.told[origin] = true
	return true
}
