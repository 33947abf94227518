package settings

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/tenantry/tenantry/internal/safehttp"
)

// StripeSandboxFlags are the flags of sandbox stripe. Its secrets protect only simulated money, so
// they can be flags.
type StripeSandboxFlags struct {
	Addr          string `placeholder:"HOST:PORT" help:"Address to listen on. Default: 127.0.0.1:12111."`
	PublicURL     string `name:"url" placeholder:"URL" help:"URL at which clients reach the sandbox, for links to its pages. Default: the listening address."`
	Key           string `env:"TENANTRY_STRIPE_SECRET_KEY" placeholder:"KEY" help:"Secret key of its clients, such as sk_test_sandbox. Default: a random one, kept in the data folder."`
	Webhook       string `placeholder:"URL" help:"URL that receives all events, in addition to webhook endpoints created by clients. Default: none."`
	WebhookSecret string `placeholder:"SECRET" help:"Signing secret for events to that URL. Default: a random secret, stored in the data folder."`
	Data          string `placeholder:"DIR" help:"Folder for the state of the sandbox. Default: ./stripe-sandbox."`
}

// StripeSandbox holds the settings of the stand-alone payment provider.
type StripeSandbox struct {
	Addr          string
	PublicURL     *url.URL // nil means the listening address
	Key           Secret   // empty means a random key, stored in the data folder
	Webhook       string   // empty means that no events are sent
	WebhookSecret Secret   // empty means a random secret, stored in the data folder
	Data          string
}

// Settings validates the settings of sandbox stripe, like DevFlags.Settings.
func (f StripeSandboxFlags) Settings() (StripeSandbox, error) {
	var p parser
	s := StripeSandbox{
		Addr: p.addr("--addr", cmp.Or(f.Addr, "127.0.0.1:12111")), PublicURL: p.webURL("--url", f.PublicURL),
		Key: Secret(f.Key), Webhook: f.Webhook, WebhookSecret: Secret(f.WebhookSecret), Data: p.dir("--data", cmp.Or(f.Data, "./stripe-sandbox")),
	}
	p.sandboxKey("--key", s.Key)
	if f.Webhook != "" {
		if u, err := url.Parse(f.Webhook); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || !safehttp.HasValidPort(u) {
			p.fail("--webhook", "%q is not an absolute http or https URL", f.Webhook)
		}
	}
	return s, errors.Join(p.errs...)
}

// sandboxKey rejects a key that does not look like a test key. A user who passes a live key
// probably expects real payments.
func (p *parser) sandboxKey(name string, key Secret) {
	if text := key.Reveal(); text != "" && !strings.HasPrefix(text, "sk_test_") && !strings.HasPrefix(text, "rk_test_") {
		p.fail(name, "must begin with sk_test_ for the sandbox")
	}
}
