//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/alexedwards/argon2id"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
)

// The bare server is the baseline for the service: net/http and encoding/json without a database,
// in its own process like the service.
//
// POST /decode/{name}   decodes the body of a recording and writes the stored response
// GET  /answers/{name}  writes the stored response
// PUT  /answers/{name}  stores a response of the service
// POST /argon2id        verifies a password once
// GET  /argon2id        verifies passwords on all cores for ?seconds= and writes the rate
const bareCommand = "bare"

// recording is the body of a request that records usage, with plain types.
type recording struct {
	MeterCode      string          `json:"meter_code"`
	Quantity       float64         `json:"quantity"`
	IdempotencyKey string          `json:"idempotency_key"`
	RecordedAt     time.Time       `json:"recorded_at"`
	Metadata       json.RawMessage `json:"metadata"`
}

type batch struct {
	Events []recording `json:"events"`
	recording
}

// serveBare runs the bare server until SIGTERM.
func serveBare(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var answers sync.Map
	write := func(w http.ResponseWriter, name string, status int) {
		text, _ := answers.Load(name)
		body, _ := text.([]byte)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("PUT /answers/{name}", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answers.Store(r.PathValue("name"), body)
	})
	mux.HandleFunc("GET /answers/{name}", func(w http.ResponseWriter, r *http.Request) {
		write(w, r.PathValue("name"), http.StatusOK)
	})
	mux.HandleFunc("POST /decode/{name}", func(w http.ResponseWriter, r *http.Request) {
		var in batch
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		status := http.StatusCreated
		if len(in.Events) > 0 {
			status = http.StatusOK
		}
		write(w, r.PathValue("name"), status)
	})
	hash := sync.OnceValues(hashOfPassword)
	mux.HandleFunc("POST /argon2id", func(w http.ResponseWriter, _ *http.Request) {
		known, err := hash()
		if err == nil {
			_, err = argon2id.ComparePasswordAndHash(password, known)
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("GET /argon2id", func(w http.ResponseWriter, r *http.Request) {
		seconds, _ := strconv.ParseFloat(r.FormValue("seconds"), 64)
		_, _ = fmt.Fprintf(w, "%.2f", hashRate(time.Duration(seconds*float64(time.Second))))
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// hashOfPassword hashes the password as the service does.
func hashOfPassword() (string, error) {
	return account.NewPasswords(account.HashCost{}).Hash(context.Background(), password)
}

// hashRate verifies passwords on all cores for d. It returns the verifications per second.
func hashRate(d time.Duration) float64 {
	hash, err := hashOfPassword()
	if err != nil {
		return 0
	}
	now := clock.System().Now
	begin := now()
	counts := make([]int, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range counts {
		wg.Go(func() {
			for now().Sub(begin) < d {
				if ok, err := argon2id.ComparePasswordAndHash(password, hash); ok && err == nil {
					counts[i]++
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / now().Sub(begin).Seconds()
}

// startBare starts the bare server, which is this program with another argument.
func startBare(ctx context.Context) (*child, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, exec.CommandContext(ctx, self, bareCommand, address.String()), address, "/readyz")
}
