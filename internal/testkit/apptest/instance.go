package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/sandbox/clock"
)

// instanceVariable is the environment variable that makes a test binary run another instance of a
// service. The first instance runs in the process of the test, with the payment provider and the
// clock.
const instanceVariable = "TENANTRY_TEST_BESIDE"

// instanceOrder is a message to the process of an instance, as JSON on standard input. The first
// message contains the settings, and each further message the offset of the sandbox's clock. The
// process replies to each message. At the end of the input it stops as on SIGTERM.
type instanceOrder struct {
	Settings *instanceSettings `json:",omitempty"`
	Ahead    time.Duration
}

// instanceReply is a message from the process of an instance on standard output. The first message
// contains the address, once the instance serves requests. Each further message confirms the offset
// of the clock.
type instanceReply struct {
	Addr  string        `json:",omitempty"`
	Ahead time.Duration // offset of its clock
}

// instanceSettings are settings with the secrets, which settings.Settings omits from JSON.
type instanceSettings struct {
	settings.Settings

	Own                       string // the first instance's URL
	Database, Redis, Provider string
	Webhooks                  []string
}

// newInstanceSettings returns the settings to send to an instance.
func newInstanceSettings(s settings.Settings, own string) *instanceSettings {
	s.Addr, s.MetricsAddr, s.ProfilesAddr = "127.0.0.1:0", "", ""
	b := &instanceSettings{
		Settings: s, Own: own, Database: s.DatabaseURL.Reveal(),
		Redis: s.RedisURL.Reveal(), Provider: s.StripeSecretKey.Reveal(),
	}
	for _, secret := range s.StripeWebhookSecrets {
		b.Webhooks = append(b.Webhooks, secret.Reveal())
	}
	return b
}

// reveal returns the settings with the secrets.
func (b *instanceSettings) reveal() settings.Settings {
	s := b.Settings
	s.DatabaseURL, s.RedisURL = settings.Secret(b.Database), settings.Secret(b.Redis)
	s.StripeSecretKey, s.StripeWebhookSecrets = settings.Secret(b.Provider), nil
	for _, secret := range b.Webhooks {
		s.StripeWebhookSecrets = append(s.StripeWebhookSecrets, settings.Secret(secret))
	}
	return s
}

// serveInstance runs an instance in a process that startInstance has started, and returns its exit
// code.
func serveInstance(in io.Reader, out io.Writer) int {
	debug.SetGCPercent(garbage)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	read, write := json.NewDecoder(in), json.NewEncoder(out)
	var first instanceOrder
	err := read.Decode(&first)
	if err == nil && first.Settings == nil {
		err = errors.New("no settings")
	}
	if err == nil {
		err = app.SecondInstance(ctx, first.Settings.reveal(), first.Settings.Own, os.Stderr, func(address net.Addr, sandbox *clock.Adjustable) error {
			go followClock(read, write, sandbox, stop)
			return write.Encode(instanceReply{Addr: address.String(), Ahead: sandbox.Offset()})
		})
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "second instance:", err)
		return 1
	}
	return 0
}

// followClock sets the clock to each offset that it reads, until the end of the input.
func followClock(read *json.Decoder, write *json.Encoder, sandbox *clock.Adjustable, stop func()) {
	defer stop()
	for {
		var next instanceOrder
		if read.Decode(&next) != nil {
			return
		}
		sandbox.Advance(next.Ahead - sandbox.Offset())
		if write.Encode(instanceReply{Ahead: sandbox.Offset()}) != nil {
			return
		}
	}
}

// instance is another instance of a service in a separate process.
type instance struct {
	addr string
	stop func() error // stops like SIGTERM; later calls return the same error

	mu    sync.Mutex // held from sending an order until the reply
	write *json.Encoder
	read  *json.Decoder
}

// startInstance starts another instance of the service at own, and waits until it serves requests.
// Its log goes to log.
func startInstance(s settings.Settings, own string, log io.Writer) (*instance, error) {
	run := exec.CommandContext(context.Background(), os.Args[0])
	run.Env, run.Stderr = append(os.Environ(), instanceVariable+"=1"), log
	in, err := run.StdinPipe() // closed when this process ends, even if it is killed
	if err != nil {
		return nil, err
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, err
	}
	i := &instance{write: json.NewEncoder(in), read: json.NewDecoder(bufio.NewReader(out))}
	i.stop = sync.OnceValue(func() error {
		_ = in.Close()
		late := time.AfterFunc(time.Minute, func() { _ = run.Process.Kill() })
		defer late.Stop()
		return run.Wait()
	})
	ready, err := i.sendOrder(instanceOrder{Settings: newInstanceSettings(s, own)})
	if err != nil {
		return nil, errors.Join(err, i.stop())
	}
	i.addr = ready.Addr
	return i, nil
}

// setClock makes an instance follow the sandbox's clock. It returns once the clock has moved.
func (i *instance) setClock(ahead time.Duration) error {
	got, err := i.sendOrder(instanceOrder{Ahead: ahead})
	if err == nil && got.Ahead < ahead {
		err = fmt.Errorf("its clock is %v ahead, not %v", got.Ahead, ahead)
	}
	return err
}

// sendOrder sends an order and returns the reply.
func (i *instance) sendOrder(o instanceOrder) (r instanceReply, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.write.Encode(o); err != nil {
		return r, err
	}
	return r, i.read.Decode(&r)
}

// clockAhead returns the offset of the sandbox's clock from the machine's clock.
func (s *Server) clockAhead() (ahead time.Duration, err error) {
	err = s.SandboxDB().Conn(s.T.Context()).QueryRowContext(s.T.Context(),
		`SELECT value FROM sandbox_settings WHERE key = 'clock_offset'`).Scan(&ahead)
	return ahead, err
}
