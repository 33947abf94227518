//go:build linux

package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"time"
)

// front is a round-robin proxy in front of the instances. Like a load balancer before its first
// health check, it also forwards requests to instances that do not respond.
type front struct {
	address   string
	instances atomic.Pointer[[]*instance] // nil until they have started; the provider may send webhooks earlier
	next      atomic.Uint64
	server    *http.Server
}

// cutHeader marks responses for which the instance was unreachable or did not respond.
const cutHeader = "X-Chaos-Cut"

func startFront(ctx context.Context) (*front, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{address: listener.Addr().String()}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			instances := *f.instances.Load()
			i := instances[f.next.Add(1)%uint64(len(instances))]
			r.Out.URL.Scheme, r.Out.URL.Host = "http", i.address.String()
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set(cutHeader, "1")
			w.WriteHeader(http.StatusBadGateway)
		},
		ErrorLog: silent,
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.instances.Load() == nil {
			w.Header().Set(cutHeader, "1")
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	f.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: silent}
	go func() { _ = f.server.Serve(listener) }()
	return f, nil
}

func (f *front) stop() { _ = f.server.Close() }
