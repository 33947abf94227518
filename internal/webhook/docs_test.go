package webhook_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/webhook"
)

// example returns the code of a language in the users' documentation.
func example(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/webhooks.md")
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

// The code of the documentation takes our signatures, and no others. Where a machine has not
// got the language, the code is only looked for.
func TestTheDocumentationVerifies(t *testing.T) {
	t.Parallel()
	const secret, other, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx", `{"type":"webhook.test"}`
	for _, s := range []string{secret, other} {
		signature := "v1,AAAA " + webhook.Signature(s, "id", 1_700_000_000, []byte(body))
		want := map[bool]string{true: "true", false: "false"}[s == secret]
		headers := `{"webhook-id": "id", "webhook-timestamp": "1700000000", "webhook-signature": "` + signature + `"}`
		python := example(t, "python") + "\nprint(str(verify('" + secret + "', " + headers + ", b'" + body + "', 1700000010)).lower())\n"
		script := example(t, "ts") + "\nconsole.log(String(verify('" + secret + "', " + headers + ", '" + body + "', 1700000010)));\n"
		run(t, want, "python3", "verify.py", python)
		run(t, want, "node", "verify.ts", script, "--experimental-strip-types", "--no-warnings")
	}
}

// run runs a program in a language and compares what it prints.
func run(t *testing.T, want, language, name, code string, flags ...string) {
	t.Helper()
	if _, err := exec.LookPath(language); err != nil {
		t.Logf("there is no %s here", language)
		return
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), language, append(flags, file)...).CombinedOutput()
	if strings.Contains(string(out), "bad option") {
		t.Logf("this %s is too old", language)
		return
	}
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s says %q, not %s: %v", language, out, want, err)
	}
}
