package app_test

import (
	"net/http"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Call(http.MethodGet, "/healthz", "", nil).Want(200)
		apptest.Eventually(t, "readiness", func() bool { return s.Call(http.MethodGet, "/readyz", "", nil).Status == 200 })
	})
}
