package blackbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/webhook"
)

// example returns the example code in a language from the user documentation.
func example(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, ok := strings.Cut(string(text), "\n```"+language+"\n")
	code, _, closed := strings.Cut(code, "\n```")
	if !ok || !closed {
		t.Fatalf("no code in %s", language)
	}
	return code
}

// The code in the documentation accepts valid signatures and rejects others.
func TestTheDocumentationVerifies(t *testing.T) {
	t.Parallel()
	const secret, other, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", `{"type":"webhook.test"}`
	signed := func(secret string) string {
		return `{"webhook-id": "id", "webhook-timestamp": "1700000000", "webhook-signature": "v1,AAAA ` + webhook.Signature(secret, "id", 1_700_000_000, []byte(body)) + `"}`
	}
	for headers, want := range map[string]string{
		signed(secret): "true",
		signed(other):  "false",
		`{}`:           "false",
		`{"webhook-id": "id", "webhook-timestamp": "1700000000"}`:                                "false",
		`{"webhook-id": "id", "webhook-timestamp": "1700000000", "webhook-signature": "v1,é"}`:   "false",
		`{"webhook-id": "id", "webhook-timestamp": "yesterday", "webhook-signature": "v1,AAAA"}`: "false",
	} {
		python := example(t, "python") + "\nprint(str(verify('" + secret + "', " + headers + ", b'" + body + "', 1700000010)).lower())\n"
		script := example(t, "js") + "\nconsole.log(String(verify('" + secret + "', " + headers + ", '" + body + "', 1700000010)));\n"
		run(t, want, "python3", "verify.py", python)
		run(t, want, "node", "verify.mjs", script)
	}
}

// The Go code in the documentation equals the function handle in this file, which accepts valid
// signatures and rejects others.
func TestTheGoCodeOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), example(t, "go")) {
		t.Error("the Go code of docs/webhooks.md is not the function handle of this file")
	}
	const secret, other, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", `{"type":"webhook.test"}`
	t.Setenv("WEBHOOK_SECRET", secret)
	now := clock.System().Now().Unix()
	for signer, want := range map[string]int{secret: http.StatusNoContent, other: http.StatusUnauthorized} {
		r := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body))
		r.Header.Set("Webhook-Id", "id")
		r.Header.Set("Webhook-Timestamp", strconv.FormatInt(now, 10))
		r.Header.Set("Webhook-Signature", "v1,AAAA "+webhook.Signature(signer, "id", now, []byte(body)))
		answer := httptest.NewRecorder()
		handle(answer, r)
		if answer.Code != want {
			t.Errorf("status %d, want %d", answer.Code, want)
		}
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	verifier, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil || verifier.Verify(body, r.Header) != nil {
		http.Error(w, "not signed", http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// run runs a program in a subtest and compares its output.
func run(t *testing.T, want, language, name, code string) {
	t.Helper()
	t.Run(language+" "+want, func(t *testing.T) {
		t.Parallel()
		program := testkit.Program(t, language)
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), program, file).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s prints %q, want %s: %v", language, out, want, err)
		}
	})
}
