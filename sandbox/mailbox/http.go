package mailbox

import (
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed mail.html
var page string

// maxShown is the maximum number of messages on the page. The JSON contains all stored messages.
const maxShown = 100

// timeLayout is the API's format of times: UTC with exactly six decimals.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// mailPolicy prevents a mail from running scripts and allows it to load only images, such as the
// logo. Mails use inline styles. Their links open in a new window.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' https: data:; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"

// Handler serves the page /sandbox/mail, the mails below it, and the JSON list
// /sandbox/mail/messages.
func (b *Mailbox) Handler() http.Handler {
	mux := http.NewServeMux()
	tmpl := theme.Shell(page, template.FuncMap{"links": links})
	mux.HandleFunc("GET /sandbox/mail", func(w http.ResponseWriter, r *http.Request) { b.showPage(w, r, tmpl) })
	mux.HandleFunc("GET /sandbox/mail/{id}", func(w http.ResponseWriter, r *http.Request) { b.showPage(w, r, tmpl) })
	mux.HandleFunc("GET /sandbox/mail/{id}/html", b.showHTML)
	mux.HandleFunc("GET /sandbox/mail/messages", b.listMessages)
	return mux
}

// view is the data of the page's template.
type view struct {
	theme.Frame

	Messages []shownMessage
	Shown    *shownMessage // the selected message, or else the newest; nil if the mailbox is empty
	One      bool          // whether a message was selected
	More     bool          // whether older messages may exist
}

type shownMessage struct {
	Message
	When theme.Moment
}

// Href returns the URL of the message's page.
func (m shownMessage) Href() string { return "/sandbox/mail/" + url.PathEscape(m.ID) }

func (b *Mailbox) showPage(w http.ResponseWriter, r *http.Request, tmpl *template.Template) {
	messages, err := b.Messages(r.Context(), maxShown)
	if err != nil {
		fail(w, err)
		return
	}
	now, id := b.clock.Now(), r.PathValue("id")
	v := view{Frame: theme.Frame{Title: "Mail", Here: "Mail", Now: theme.DescribeTime(now, now)}, One: id != "", More: len(messages) == maxShown}
	for _, m := range messages {
		v.Messages = append(v.Messages, shownMessage{m, theme.DescribeTime(m.SentAt, now)})
	}
	status := http.StatusOK
	if id != "" {
		m, err := b.message(r.Context(), id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			status, v.One = http.StatusNotFound, false
		case err != nil:
			fail(w, err)
			return
		default:
			v.Up, v.Title = &theme.Link{Text: "Mail", Href: "/sandbox/mail"}, m.Subject
			v.Shown = &shownMessage{m, theme.DescribeTime(m.SentAt, now)}
		}
	}
	if v.Shown == nil && len(v.Messages) > 0 {
		v.Shown = &v.Messages[0]
	}
	if err := theme.Write(w, status, tmpl, "'none'", v); err != nil {
		fail(w, err)
	}
}

// showHTML responds with the HTML of a mail. Links open in a new window, because the mail is shown
// in a frame.
func (b *Mailbox) showHTML(w http.ResponseWriter, r *http.Request) {
	m, err := b.message(r.Context(), r.PathValue("id"))
	if errors.Is(err, sql.ErrNoRows) {
		writeJSON(w, http.StatusNotFound, map[string]any{"message": "This email does not exist."})
		return
	}
	if err != nil {
		fail(w, err)
		return
	}
	writeFramed(w)
	_, _ = io.WriteString(w, strings.Replace(m.HTML, "<head>", `<head><base target="_blank">`, 1))
}

// writeFramed writes the header of a mail's HTML, which is shown in a frame.
func writeFramed(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", mailPolicy)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// jsonMessage is the JSON form of a message.
type jsonMessage struct {
	ID      string `json:"id"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	SentAt  string `json:"sent_at"`

	Attachments []Attachment `json:"attachments"`
}

func (b *Mailbox) listMessages(w http.ResponseWriter, r *http.Request) {
	messages, err := b.Messages(r.Context(), MaxMessages)
	if err != nil {
		fail(w, err)
		return
	}
	list := make([]jsonMessage, 0, len(messages))
	for _, m := range messages {
		list = append(list, jsonMessage{m.ID, m.To, m.Subject, m.Text, m.HTML, m.SentAt.Format(timeLayout), notNil(m.Attachments)})
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": list})
}

// fail responds with the error message, because the users of the sandbox are its operators.
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

// part is a piece of a mail's text. URL is set if it is a link.
type part struct{ Text, URL string }

// urls matches clickable URLs. A full stop or bracket at the end is not part of the URL.
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
