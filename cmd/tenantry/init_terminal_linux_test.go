package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenantry/tenantry/internal/testkit"
)

// terminal is a pseudo-terminal that runs a program.
type terminal struct {
	t     *testing.T
	side  *os.File // the user's side
	inner *os.File // the program's side

	mu    sync.Mutex
	shown strings.Builder
	seen  int // length of the part of shown that wait has searched
}

// runInTerminal starts a program in a new terminal, in its folder.
func runInTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	side, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		testkit.Skip(t, "terminal", err)
	}
	number, err := unix.IoctlGetInt(int(side.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(side.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	inner, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inner, inner, inner
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, side: side, inner: inner}
	t.Cleanup(func() { _, _ = side.Close(), inner.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := side.Read(buffer)
			if err != nil {
				return
			}
			x.mu.Lock()
			x.shown.Write(buffer[:n])
			x.mu.Unlock()
		}
	}()
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown.String()
}

// wait waits until the terminal shows text after the text of the previous wait, and until the echo
// of input is on or off.
func (x *terminal) wait(text string, echo bool) {
	x.t.Helper()
	defer func() {
		if x.t.Failed() {
			x.t.Logf("the terminal shows:\n%s", x.text())
		}
	}()
	testkit.Eventually(x.t, fmt.Sprintf("%q with the echo %t", text, echo), func() bool {
		at := strings.Index(x.text()[x.seen:], text)
		if at < 0 || x.echoes() != echo {
			return false
		}
		x.seen += at + len(text)
		return true
	})
}

// echoes reports whether the terminal shows the input.
func (x *terminal) echoes() bool {
	x.t.Helper()
	settings, err := unix.IoctlGetTermios(int(x.inner.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return settings.Lflag&unix.ECHO != 0
}

func (x *terminal) enter(text string) {
	x.t.Helper()
	if _, err := x.side.WriteString(text); err != nil {
		x.t.Fatal(err)
	}
}

// In a terminal, init shows the answers except secrets. It asks for identity providers and writes
// their settings.
func TestInitInTerminal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "tenantry", "init", "--no-doctor")
	cmd.Dir = folder
	x := runInTerminal(t, cmd)
	for _, step := range []struct {
		asked, answer string
		isSecret      bool
	}{
		{"Public URL", "https://api.example.com", false},
		{"reverse proxies", "", false},
		{"Data folder", "", false},
		{"PostgreSQL URL", "", false},
		{"Stripe secret key", "sk_test_hidden1", true},
		{"Signing secret", "whsec_hidden2", true},
		{"SMTP server", "smtp://a:hidden3@127.0.0.1:9", true},
		{"Sender of emails", "a@b.test", false},
		{"Sign in with", "GitHub, acme", false},
		{"Client ID of github", "github-id", false},
		{"Client secret of github", "hidden4", true},
		{"Issuer of acme", "not a URL", false},
		{"Client ID of acme", "acme-id", false},
		{"Client secret of acme", "hidden5", true},
		{"TENANTRY_OIDC_ACME_ISSUER", "github", false}, // the error; the question is repeated
		{"Client ID of github", "github-id", false},
		{"Client secret of github", "hidden6", true},
		{"Email address of the first", "", false},
	} {
		x.wait(step.asked, !step.isSecret)
		x.enter(step.answer + "\n")
	}
	if err := cmd.Wait(); err != nil || strings.Contains(x.text(), "hidden") || !strings.Contains(x.text(), "github-id") {
		t.Errorf("%v\n%s", err, x.text())
	}
	text, err := os.ReadFile(filepath.Join(folder, "tenantry.env"))
	want := "TENANTRY_MAIL_FROM=a@b.test\nTENANTRY_OAUTH_GITHUB_CLIENT_ID=github-id\nTENANTRY_OAUTH_GITHUB_CLIENT_SECRET=hidden6\n"
	if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "ACME") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Ctrl-C at a hidden question ends init. The terminal shows input again.
func TestInterruptedSecret(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "tenantry", "init", "--public-url=https://api.example.com", "--trusted-proxies=127.0.0.1", "--data=data", "--database-url=postgres://db.test/a")
	cmd.Dir = t.TempDir()
	x := runInTerminal(t, cmd)
	x.wait("Stripe secret key", false)
	x.enter("\x03")
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("%v\n%s", err, x.text())
	}
	x.wait("TENANTRY_STRIPE_SECRET_KEY: interrupted", true)
}
