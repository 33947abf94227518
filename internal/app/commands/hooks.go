package commands

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/webhook/listen"
)

// HookListener configures where webhooks are received and forwarded.
type HookListener struct {
	Addr      string
	Secrets   []string // signing secrets of the endpoint; if empty, signatures are not checked
	ForwardTo string   // URL; "" does not forward
	JSON      bool
}

// ListenForHooks receives webhooks and writes them to out until ctx ends. It returns settings
// errors for invalid fields of h.
func ListenForHooks(ctx context.Context, h HookListener, out io.Writer) error {
	config := listen.Config{Secrets: h.Secrets, JSON: h.JSON, Out: out, Clock: clock.System()}
	var wrong []error
	_, port, err := net.SplitHostPort(h.Addr)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		wrong = append(wrong, &settings.Error{Name: "--addr", Reason: "must be HOST:PORT, such as 127.0.0.1:4400"})
	}
	if h.ForwardTo != "" {
		to, err := url.Parse(h.ForwardTo)
		if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" || !safehttp.HasValidPort(to) {
			wrong = append(wrong, &settings.Error{Name: "--forward-to", Reason: "must be a URL, such as http://127.0.0.1:3000/webhooks"})
		}
		config.Forward = to
	}
	listener, err := listen.New(config)
	if err != nil {
		wrong = append(wrong, &settings.Error{Name: "--secret", Reason: err.Error()})
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	return listener.Run(ctx, h.Addr)
}
