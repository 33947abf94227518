package sandbox

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/theme"
)

const (
	// maxMessages is the maximum number of stored messages. maxMessage is the maximum size of a
	// message in bytes; larger messages are refused. maxKept is the maximum total size. maxNames is
	// the maximum number of names with configured responses.
	maxMessages = 1000
	maxMessage  = 1 << 20
	maxKept     = 32 << 20
	maxNames    = 1000
	maxDelay    = 60_000 // milliseconds
	maxShown    = 100
)

//go:embed webhooks.html
var webhooksPage string

// webhookMessage is a received webhook.
type webhookMessage struct {
	ID             string            `json:"id"`
	Headers        map[string]string `json:"headers"` // names are lower case
	Body           json.RawMessage   `json:"body"`    // a string if the body is not JSON
	SignatureValid bool              `json:"signature_valid"`
	ReceivedAt     string            `json:"received_at"`

	size int
	name string // the name of the endpoint
	at   time.Time
}

// answer is the configured response of an endpoint.
type answer struct {
	Status  int `json:"status"`
	DelayMS int `json:"delay_ms"`
}

// WebhookReceiver accepts webhooks at /sandbox/hooks/in/{name} for any name. It keeps the messages in
// memory for people and tests, and its responses can be configured
// (rules: sandbox#receiver-of-webhooks). Clock and Secrets are required; the other fields have useful
// zero values.
type WebhookReceiver struct {
	Clock clock.Clock
	// Secrets returns the possible signing secrets of endpoints whose URL ends with path.
	Secrets func(ctx context.Context, path string) ([]string, error)

	mu       sync.Mutex
	messages []webhookMessage // newest last
	size     int              // total size of the bodies
	answers  map[string]answer
}

// Handler serves /sandbox/hooks and the paths below it.
func (r *WebhookReceiver) Handler() http.Handler {
	mux := http.NewServeMux()
	tmpl := theme.Shell(webhooksPage, nil)
	mux.HandleFunc("GET /sandbox/hooks", func(w http.ResponseWriter, req *http.Request) { r.showPage(w, req, tmpl) })
	mux.HandleFunc("GET /sandbox/hooks/messages", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"data": r.latestMessages(maxMessages)})
	})
	mux.HandleFunc("POST /sandbox/hooks/in/{name}", r.receive)
	mux.HandleFunc("POST /sandbox/hooks/in/{name}/answer", r.setAnswer)
	return mux
}

// latestMessages returns at most n messages, newest first.
func (r *WebhookReceiver) latestMessages(n int) []webhookMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := append([]webhookMessage{}, r.messages[max(0, len(r.messages)-n):]...)
	slices.Reverse(list)
	return list
}

func (r *WebhookReceiver) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxMessage))
	if err != nil {
		writeJSON(w, http.StatusRequestEntityTooLarge, map[string]string{"message": "The body is unreadable."})
		return
	}
	secrets, err := r.Secrets(req.Context(), req.URL.Path)
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]string{"message": err.Error()})
		return
	}
	m := webhookMessage{
		ID: uuid.Must(uuid.NewV7()).String(), Headers: map[string]string{}, Body: body, SignatureValid: isSigned(secrets, req.Header, body),
		size: len(body), name: req.PathValue("name"), at: r.Clock.Now().UTC(),
	}
	m.ReceivedAt = m.at.Format(timeLayout)
	for name, values := range req.Header {
		m.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	if !json.Valid(body) {
		m.Body, _ = json.Marshal(string(body)) // encoding a string never fails
	}
	switch a := r.store(m); {
	case !pause(req.Context(), time.Duration(a.DelayMS)*time.Millisecond):
	case a.Status >= 300 && a.Status < 400:
		http.Redirect(w, req, req.URL.Path+"-redirected", a.Status) //nolint:gosec // To a path of this server, as a test asked for.
	default:
		w.WriteHeader(a.Status)
	}
}

// store stores a message, drops the oldest messages beyond the limits, and returns the configured
// response of the endpoint.
func (r *WebhookReceiver) store(m webhookMessage) answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages, r.size = append(r.messages, m), r.size+m.size
	for len(r.messages) > maxMessages || r.size > maxKept {
		r.size -= r.messages[0].size
		r.messages = r.messages[1:]
	}
	if a, ok := r.answers[m.name]; ok {
		return a
	}
	return answer{Status: http.StatusOK}
}

func (r *WebhookReceiver) setAnswer(w http.ResponseWriter, req *http.Request) {
	a := answer{Status: http.StatusOK}
	err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxMessage)).Decode(&a)
	if err != nil || a.Status < 200 || a.Status > 599 || a.DelayMS < 0 || a.DelayMS > maxDelay {
		writeJSON(w, http.StatusUnprocessableEntity, map[string]string{"message": "Specify a status from 200 to 599 and a delay_ms from 0 to 60000."})
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil || len(r.answers) >= maxNames {
		r.answers = map[string]answer{}
	}
	r.answers[req.PathValue("name")] = a
	writeJSON(w, http.StatusOK, map[string]any{"data": a})
}

// view is the data of the page's template.
type view struct {
	theme.Frame

	Site, Answer string // Answer is a command that configures the response of an endpoint
	Messages     []shownMessage
}

type shownMessage struct {
	webhookMessage
	Name, Type string
	When       theme.Moment
}

// Text returns the body with indentation.
func (m shownMessage) Text() string {
	var out bytes.Buffer
	if json.Indent(&out, m.Body, "", "  ") != nil {
		return string(m.Body)
	}
	return out.String()
}

func (r *WebhookReceiver) showPage(w http.ResponseWriter, req *http.Request, tmpl *template.Template) {
	now, site := r.Clock.Now(), "http://"+req.Host
	v := view{Frame: theme.Frame{Title: "Webhooks", Here: "Webhooks", Now: theme.DescribeTime(now, now)}, Site: site}
	v.Answer = "curl " + site + "/sandbox/hooks/in/demo/answer \\\n  -d '{\"status\": 500, \"delay_ms\": 0}'"
	for _, m := range r.latestMessages(maxShown) {
		var body struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(m.Body, &body) != nil || body.Type == "" {
			body.Type = "no event"
		}
		v.Messages = append(v.Messages, shownMessage{m, m.name, body.Type, theme.DescribeTime(m.at, now)})
	}
	if err := theme.Write(w, http.StatusOK, tmpl, "'none'", v); err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]string{"message": err.Error()})
	}
}

// isSigned reports whether a message was signed with one of the secrets. It ignores the timestamp,
// because the sandbox's clock differs from the system clock.
func isSigned(secrets []string, header http.Header, body []byte) bool {
	return slices.ContainsFunc(secrets, func(secret string) bool {
		verifier, err := standardwebhooks.NewWebhook(secret)
		return err == nil && verifier.VerifyIgnoringTimestamp(body, header) == nil
	})
}

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
