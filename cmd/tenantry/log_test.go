package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// After a stop, the log has a line for each request and for the stop.
func TestAStopLosesNoLine(t *testing.T) {
	t.Parallel()
	const requests = 50
	address := freeAddress(t)
	env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(), "TENANTRY_DATABASE_URL="+dbtest.EmptyURL(t, sqldb.SQLite),
		"TENANTRY_STRIPE_SECRET_KEY=sk_test_log", "TENANTRY_STRIPE_WEBHOOK_SECRET=whsec_log", "TENANTRY_INVOICE_MODE=platform_managed",
		"TENANTRY_SMTP_URL=smtp://127.0.0.1:9", "TENANTRY_MAIL_FROM=log@example.com", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=")
	server := startCommand(t, exec.CommandContext(t.Context(), watched, "serve"), env, address)
	for range requests {
		if !answers(t, address, "/api/v1/settings") {
			t.Fatal("no answer")
		}
	}
	server.stop(t)
	log := server.stderr.String()
	if n := strings.Count(log, `"/api/v1/settings"`); n != requests || !strings.Contains(log, "stopping") {
		t.Errorf("%d lines, want %d:\n%s", n, requests, log)
	}
}
