package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
)

const (
	// requestTimeout bounds a request to the service.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds a response of the service, in bytes.
	maxAnswer = 4 << 20
)

// service is a client of a running service with an API key.
type service struct {
	base   *url.URL
	key    string
	agent  string
	client *http.Client
}

func newService(base *url.URL, key, version string) *service {
	return &service{
		base: base, key: key, agent: "tenantry-mcp/" + version,
		client: &http.Client{
			Timeout: requestTimeout,
			// The key is only for this host, and no route redirects.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// refusal is an error response of the service. A model reads its text.
type refusal struct {
	Status  int
	Code    fault.Code          `json:"code"`
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors"`
}

func (r *refusal) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the service returned %d", r.Status)
	if r.Code != "" {
		fmt.Fprintf(&b, " (%s)", r.Code)
	}
	if r.Message != "" {
		fmt.Fprintf(&b, ": %s", r.Message)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Errors)) {
		fmt.Fprintf(&b, "\n%s: %s", field, strings.Join(r.Errors[field], " "))
	}
	switch {
	case r.Status == http.StatusUnauthorized:
		b.WriteString("\nThe API key is invalid, expired or revoked.")
	case r.Code == fault.InsufficientScope:
		b.WriteString("\nThe API key does not have the required scope.")
	}
	return b.String()
}

// get reads a resource. It escapes the path segments.
func (s *service) get(ctx context.Context, query url.Values, segments ...string) (object, error) {
	return s.call(ctx, http.MethodGet, query, nil, segments)
}

func (s *service) post(ctx context.Context, body object, segments ...string) (object, error) {
	return s.call(ctx, http.MethodPost, nil, body, segments)
}

func (s *service) call(ctx context.Context, method string, query url.Values, body object, segments []string) (object, error) {
	target := s.base.JoinPath("api", "v1")
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return nil, fmt.Errorf("%q cannot be used in a path", segment)
		}
		target = target.JoinPath(url.PathEscape(segment))
	}
	target.RawQuery = query.Encode()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = strings.NewReader(string(text))
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", s.agent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the service is unreachable: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("the response of the service is incomplete: %w", err)
	}
	if len(text) > maxAnswer {
		return nil, errors.New("the response of the service is too large: request less data")
	}
	if response.StatusCode/100 != 2 {
		refused := &refusal{Status: response.StatusCode}
		_ = json.Unmarshal(text, refused) // an error page of a proxy is not JSON
		return nil, refused
	}
	var answer object
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("%s is not a Tenantry service: %w", target.Host, err)
	}
	return answer, nil
}
