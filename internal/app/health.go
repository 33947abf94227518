package app

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// health serves the liveness and readiness checks. The process is ready if it has started and is
// not stopping, and if the database answers and its disk is not full.
type health struct {
	db    *sqldb.DB
	ready atomic.Bool
}

func (h *health) serveLiveness(w http.ResponseWriter, _ *http.Request) {
	writeMessage(w, http.StatusOK, "ok")
}

func (h *health) serveReadiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch {
	case !h.ready.Load():
		writeMessage(w, http.StatusServiceUnavailable, "starting or shutting down")
	case h.db.Ping(ctx) != nil:
		writeMessage(w, http.StatusServiceUnavailable, "database unavailable")
	case h.db.IsDiskFull():
		writeMessage(w, http.StatusServiceUnavailable, "database disk full")
	default:
		writeMessage(w, http.StatusOK, "ready")
	}
}

// writeMessage writes {"message": message}. It does not escape message.
func writeMessage(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"message":"`+message+`"}`+"\n")
}
