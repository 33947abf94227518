package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// downloadPDF downloads the first invoice of the tour's tenant.
const downloadPDF = `
for attempt in {1..300}; do
  INVOICE=$(curl -sS $API/tenant/$TENANT/invoices -H "Authorization: Bearer $ACCESS" | sed -n 's/.*"data":\[{"id":"\([^"]*\)".*/\1/p')
  [ -n "$INVOICE" ] && break
  sleep 0.2
done
curl -sS -o /dev/null -w 'pdf: %{http_code} %{content_type}\n' $API/tenant/$TENANT/invoices/$INVOICE/pdf -H "Authorization: Bearer $ACCESS"
`

// serve works with the stand-alone payment provider: the quick start leads from a registration to a
// paid subscription, whose invoice can be downloaded. serve warns that no money moves. A later
// start without the sandbox rejects the database.
func TestPractice(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "sed"} {
		testkit.Program(t, program)
	}
	steps := tourSteps(t)[:5] // from the registration to the active subscription
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			provider, address := freeAddress(t), freeAddress(t)
			env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(), "TENANTRY_DATABASE_URL="+dbtest.EmptyURL(t, dialect),
				"TENANTRY_STRIPE_SECRET_KEY=sk_test_sandbox_practice", "TENANTRY_STRIPE_WEBHOOK_SECRET=whsec_practice",
				"TENANTRY_SMTP_URL=smtp://127.0.0.1:9", "TENANTRY_MAIL_FROM=a@b.test")
			startProvider(t, env, provider, "http://"+address+"/api/v1/webhooks/stripe")
			run := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), "tenantry", args...)
				cmd.Env = env
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", args[0], err, out)
				}
				return string(out)
			}
			run("migrate")
			run("catalog", "import", "../../internal/catalog/pricelist/demo.yaml", "--yes", "--stripe-url", "http://"+provider)
			server := startCommand(t, exec.CommandContext(t.Context(), watched, "serve", "--stripe-url", "http://"+provider), env, address)
			shell := startShell(t, append(os.Environ(), "API=http://"+address+"/api/v1"))
			var output strings.Builder
			for _, step := range append(slices.Clone(steps), downloadPDF) {
				output.WriteString(shell.run(t, step))
			}
			if text := output.String(); !strings.Contains(text, "paid: 303\n") || !strings.Contains(text, `"status":"active"`) {
				t.Errorf("no subscription was paid:\n%s\n%s", text, &server.stderr)
			}
			if !strings.Contains(output.String(), "pdf: 200 application/pdf\n") {
				t.Errorf("the invoice's PDF is not served:\n%s\n%s", &output, &server.stderr)
			}
			if found := run("psp", "check", "--stripe-url", "http://"+provider, "--public-url", "http://"+address); !strings.Contains(found, "the sandbox sends all events") || strings.Contains(found, "superfluous") {
				t.Errorf("psp check: %s", found)
			}
			server.stop(t)
			if !strings.Contains(server.stderr.String(), "PRACTICE WITHOUT STRIPE") {
				t.Errorf("no warning at the start:\n%s", &server.stderr)
			}
			cmd := exec.CommandContext(t.Context(), "tenantry", "serve")
			cmd.Env = append(env, "TENANTRY_STRIPE_SECRET_KEY=sk_test_1")
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "TENANTRY_DATABASE_URL: the database is in use for practice") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// startProvider starts `tenantry sandbox stripe`, which sends its events to webhook, and waits until
// it prints how to write the settings of the service.
func startProvider(t *testing.T, env []string, address, webhook string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "tenantry", "sandbox", "stripe", "--addr", address, "--data", filepath.Join(t.TempDir(), "stripe"),
		"--webhook", webhook, "--webhook-secret", "whsec_practice")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "tenantry init --stripe-url http://"+address) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	t.Fatal("the sandbox does not print how to write the settings")
}
