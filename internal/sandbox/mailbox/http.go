package mailbox

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"regexp"
)

//go:embed mail.html
var page string

// shown is how many messages the page has. The JSON has all that are kept.
const shown = 100

// timeLayout is the API's format of times: UTC with exactly six decimals.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// policy prevents that anything in a mail is run or framed, and lets it load pictures
// alone: the logo. The HTML of a mail is in a sandboxed frame, which inherits the policy.
// Mail uses inline styles.
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https: data:; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page /sandbox/mail and the JSON /sandbox/mail/messages.
func (b *Mailbox) Handler() http.Handler {
	mux := http.NewServeMux()
	tmpl := template.Must(template.New("mail").Funcs(template.FuncMap{"links": links}).Parse(page))
	mux.HandleFunc("GET /sandbox/mail", func(w http.ResponseWriter, r *http.Request) { b.showPage(w, r, tmpl) })
	mux.HandleFunc("GET /sandbox/mail/messages", b.listMessages)
	return mux
}

func (b *Mailbox) showPage(w http.ResponseWriter, r *http.Request, tmpl *template.Template) {
	messages, err := b.Messages(r.Context(), shown)
	var html bytes.Buffer
	if err == nil {
		err = tmpl.Execute(&html, map[string]any{"Messages": messages, "Shown": shown})
	}
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(html.Bytes())
}

// jsonMessage is a message in the JSON.
type jsonMessage struct {
	ID      string `json:"id"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	SentAt  string `json:"sent_at"`
}

func (b *Mailbox) listMessages(w http.ResponseWriter, r *http.Request) {
	messages, err := b.Messages(r.Context(), Keep)
	if err != nil {
		fail(w, err)
		return
	}
	list := make([]jsonMessage, 0, len(messages))
	for _, m := range messages {
		list = append(list, jsonMessage{m.ID, m.To, m.Subject, m.Text, m.HTML, m.SentAt.Format(timeLayout)})
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": list})
}

// fail answers with the error itself, because whoever sees the sandbox also
// runs it.
func fail(w http.ResponseWriter, err error) {
	writeJSON(w, http.StatusInternalServerError, map[string]any{"message": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body)
}

// part is a piece of a mail's text. If it is a link, it has a URL.
type part struct{ Text, URL string }

// urls matches what a person would click on. A full stop or a bracket at the
// end belongs to the sentence.
var urls = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>".,;:!?)\]]`)

// links splits a text into links and the text between them.
func links(text string) []part {
	var parts []part
	end := 0
	for _, at := range urls.FindAllStringIndex(text, -1) {
		parts = append(parts, part{Text: text[end:at[0]]}, part{Text: text[at[0]:at[1]], URL: text[at[0]:at[1]]})
		end = at[1]
	}
	return append(parts, part{Text: text[end:]})
}
