package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// init creates the database and the first admin, on SQLite and on PostgreSQL. If an answer is
// invalid or the database does not respond, it asks again. Other commands can use the settings file.
func TestInit(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "tenantry", "init", "--no-doctor")
			cmd.Dir = folder
			cmd.Stdin = strings.NewReader(strings.Join([]string{
				"https://api.example.com", "proxy", "127.0.0.1", "", "postgres://127.0.0.1:1/none", dbtest.EmptyURL(t, dialect), "sk_test_1", "whsec_1", "smtp://127.0.0.1:9", "a@b.test", "",
				"not an address", "Ada", "ada@example.com", "Ada", "",
			}, "\n"))
			var prompts strings.Builder
			cmd.Stderr = &prompts
			out, err := cmd.Output()
			if err != nil || !regexp.MustCompile(`(?m)^created platform admin ada@example.com .*\npassword: \w{26}$`).Match(out) {
				t.Fatalf("%v\n%s\n%s", err, out, &prompts)
			}
			for _, refused := range []string{
				`email "not an address": not a valid email address`, `"proxy" is neither an IP address nor a network`,
				"TENANTRY_DATABASE_URL: sqldb: open: failed to connect",
			} {
				if strings.Count(prompts.String(), refused) != 1 {
					t.Errorf("%s is not reported once:\n%s", refused, &prompts)
				}
			}
			if text, err := os.ReadFile(filepath.Join(folder, "tenantry.env")); err != nil || !strings.Contains(string(text), "\nTENANTRY_TRUSTED_PROXIES=127.0.0.1\n") {
				t.Errorf("the proxy is missing: %v\n%s", err, text)
			}
			if info, err := os.Stat(filepath.Join(folder, "data")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the data folder: %v %v", info, err)
			}
			list := exec.CommandContext(t.Context(), testkit.Program(t, "bash"), "-c", "set -a; . "+filepath.Join(folder, "tenantry.env")+"; tenantry admin list")
			list.Dir = t.TempDir()
			if out, err := list.CombinedOutput(); err != nil || !strings.Contains(string(out), "ada@example.com") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// With --stripe-url, the printed command starts the service with the sandbox. Without an admin, the
// database stays empty, which is only a warning of doctor.
func TestInitForPractice(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			provider, address := freeAddress(t), freeAddress(t)
			env := append(os.Environ(), "TENANTRY_STRIPE_SECRET_KEY=sk_test_sandbox_practice", "TENANTRY_STRIPE_WEBHOOK_SECRET=whsec_practice",
				"TENANTRY_SMTP_URL=smtp://127.0.0.1:9")
			startProvider(t, env, provider, "http://"+address+"/api/v1/webhooks/stripe")
			cmd := exec.CommandContext(t.Context(), "tenantry", "init", "--no-input", "--public-url=http://"+address, "--mail-from=a@b.test",
				"--database-url="+dbtest.EmptyURL(t, dialect), "--stripe-url=http://"+provider)
			cmd.Dir, cmd.Env = t.TempDir(), env
			out, err := cmd.CombinedOutput()
			text := string(out)
			if err == nil || !strings.Contains(text, "1 of ") { // only the mail server is wrong
				t.Errorf("%v\n%s", err, text)
			}
			if !regexp.MustCompile(`(?m)^To start the service: .*; tenantry serve --stripe-url http://` + provider + "$").MatchString(text) {
				t.Errorf("the printed command is wrong:\n%s", text)
			}
			if !regexp.MustCompile(`(?m)^warning +stripe: database `).MatchString(text) {
				t.Errorf("the empty database is not a warning:\n%s", text)
			}
			if !strings.Contains(text, "resend an event in the sandbox's dashboard") || strings.Contains(text, "Developers, Webhooks") {
				t.Errorf("the advice about notifications is not for a sandbox:\n%s", text)
			}
		})
	}
}

// An unreachable database is an error, but the file is written.
func TestInitWithoutDatabase(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	url := "postgres://127.0.0.1:1/none"
	cmd := exec.CommandContext(t.Context(), "tenantry", "init", "--no-input", "--no-doctor", "--public-url=https://a.test", "--mail-from=a@b.test",
		"--database-url="+url, "--admin-email=ada@example.com", "--admin-name=Ada")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TENANTRY_STRIPE_SECRET_KEY=sk_test_1", "TENANTRY_STRIPE_WEBHOOK_SECRET=whsec_1", "TENANTRY_SMTP_URL=smtp://127.0.0.1:9")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the database of TENANTRY_DATABASE_URL: ") {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "tenantry.env"))
	if err != nil || !strings.Contains(string(text), "TENANTRY_DATABASE_URL="+url+"\n") {
		t.Errorf("%v\n%s", err, text)
	}
}
