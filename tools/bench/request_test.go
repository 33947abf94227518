//go:build linux

package main

import (
	"fmt"
	"strings"
	"testing"
)

// A batch has as many keys as events, and all of them are unused.
func TestNumberedBatch(t *testing.T) {
	t.Parallel()
	next := numberedCaller(recordBatch(&user{}), 7).Next
	seen := map[string]bool{}
	for range 3 {
		for _, part := range strings.Split(string(next()), `"idempotency_key":"`)[1:] {
			seen[part[:len(placeholder)]] = true
		}
	}
	if len(seen) != 3*batchSize {
		t.Errorf("%d keys, want %d", len(seen), 3*batchSize)
	}
	if body := withNewNumbers(recordBatch(&user{}), 8).body; strings.Contains(body, placeholder) {
		t.Error("a placeholder is left")
	}
}

// A batch counts only if all of its events were stored.
func TestAllStored(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat(`{"status":201},`, batchSize)
	if err := checkAllStored([]byte(whole)); err != nil {
		t.Error(err)
	}
	if err := checkAllStored([]byte(strings.Replace(whole, "201", "409", 1))); err == nil {
		t.Error("a batch with a duplicate counts")
	}
	if err := checkAllStored(fmt.Appendf(nil, "%s", `{"message":"busy"}`)); err == nil {
		t.Error("a refusal counts")
	}
}
