package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/datadir"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/sandbox"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

// StripeSandbox serves the sandbox's payment provider without the service until ctx ends. Once it
// is ready, it writes its URL and keys to out in one Write. The log goes to logTo.
func StripeSandbox(ctx context.Context, s settings.StripeSandbox, out, logTo io.Writer) (err error) {
	log := commands.NewLog(logTo, settings.Settings{LogFormat: settings.LogText, LogLevel: slog.LevelWarn})
	world, release, err := openSandbox(ctx, s.Data)
	if err != nil {
		return err
	}
	defer release()
	defer func() { err = errors.Join(err, world.Close()) }()
	key, secret, err := sandboxSecrets(ctx, world, s.Key, s.WebhookSecret)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	own, hosts := "http://"+loopbackURL(listener.Addr()), []string(nil)
	if s.PublicURL != nil {
		own, hosts = s.PublicURL.String(), []string{s.PublicURL.Host}
	}
	provider, err := stripe.New(stripe.Config{
		DB: world.DB(), Clock: world.Clock(), PublicURL: own, Alone: true, SecretKey: key.Reveal(),
		WebhookURL: s.Webhook, WebhookSecret: secret.Reveal(), Log: log,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	world.Show(sandbox.Access{API: own, Key: key.Reveal(), Secret: secret.Reveal(), Coming: provider.ListUpcoming})
	world.Clock().OnAdvance(func(time.Time) { provider.Wake() })
	return serveAlone(ctx, listener, world.ProviderHandler(provider.Handler(), hosts...), provider.Run, func() error {
		return stripeBanner(out, own, key, secret, s)
	})
}

// openSandbox opens the sandbox of a data folder, which only one process can use at a time. The
// caller closes the sandbox before it calls release.
func openSandbox(ctx context.Context, folder string) (world *sandbox.World, release func(), err error) {
	path := filepath.Join(folder, settings.SandboxFile)
	if err := datadir.Folder(folder, settings.SandboxFile); err != nil {
		return nil, nil, err
	}
	if release, err = datadir.Lock(ctx, path); err != nil {
		return nil, nil, err
	}
	if world, err = sandbox.Open(ctx, path); err != nil {
		release()
		return nil, nil, err
	}
	return world, release, nil
}

// sandboxSecrets returns the provider's API key and the secret that signs its events. Without
// values from the settings, it uses random values that the sandbox stored when it was created, so
// that the source contains no secret.
func sandboxSecrets(ctx context.Context, world *sandbox.World, key, secret settings.Secret) (settings.Secret, settings.Secret, error) {
	keptKey, err := world.Secret(ctx, "stripe_key", "sk_test_sandbox_"+rand.Text())
	if err != nil {
		return "", "", err
	}
	keptSecret, err := world.Secret(ctx, "stripe_webhook_secret", "whsec_"+rand.Text())
	return cmp.Or(key, settings.Secret(keptKey)), cmp.Or(secret, settings.Secret(keptSecret)), err
}

// serveAlone serves requests and runs background until ctx ends.
func serveAlone(ctx context.Context, listener net.Listener, handler http.Handler, background func(context.Context) error, started func() error) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	group, ending := errgroup.WithContext(ctx)
	group.Go(func() error { return background(ending) })
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(started)
	group.Go(func() error {
		<-ending.Done()
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if err := server.Shutdown(deadline); err != nil {
			_ = server.Close()
		}
		return nil
	})
	return group.Wait()
}

// stripeBanner writes the provider's URL and keys.
func stripeBanner(w io.Writer, url string, key, secret settings.Secret, s settings.StripeSandbox) error {
	hook := "none: create an endpoint with POST /v1/webhook_endpoints, or start with --webhook"
	practice := "To practice production, start with --webhook http://127.0.0.1:8080" + webhookPath
	if s.Webhook != "" {
		hook = s.Webhook + "\n    Signing secret  " + secret.Reveal()
		practice = "To practice production, write the settings of tenantry serve to a file:\n\n    TENANTRY_STRIPE_SECRET_KEY=" + key.Reveal() +
			" TENANTRY_STRIPE_WEBHOOK_SECRET=" + secret.Reveal() + " tenantry init --stripe-url " + url
	}
	_, err := fmt.Fprintf(w, `
  A payment provider that speaks Stripe's API. No money moves.

    API             %[1]s/v1
    Secret key      %[2]s
    Webhooks        %[3]s
    Dashboard       %[1]s/sandbox/dashboard
    Coverage        %[1]s/sandbox/dashboard/coverage
    Data            %[4]s

    curl %[1]s/v1/customers -u %[2]s: -d email=ada@example.test

  %[5]s

  Stop with Ctrl-C. The data is kept; delete the folder to start over.

`, url, key.Reveal(), hook, s.Data, practice)
	return err
}
