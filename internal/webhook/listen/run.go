package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Run listens on addr until ctx ends.
func (l *Listener) Run(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	if !l.config.JSON {
		checked := "signatures are checked"
		if len(l.verifiers) == 0 {
			checked = "signatures are not checked (use --secret to check them)"
		}
		_, _ = fmt.Fprintf(l.config.Out, "Waiting for webhooks on http://%s (any path); %s. Press Ctrl-C to stop.\n\n", listener.Addr(), checked)
	}
	server := &http.Server{Handler: l, ReadTimeout: responseTimeout, ReadHeaderTimeout: responseTimeout, IdleTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
