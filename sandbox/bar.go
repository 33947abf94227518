package sandbox

import (
	"context"
	"net/http"
	"time"
)

// shownInBar is the maximum number of elements in each list of the bar.
const shownInBar = 6

// bar is the data of the console's sandbox bar: the time, the next scheduled actions, the newest
// mails and events, and the demo accounts.
type bar struct {
	Now      string       `json:"now"`
	Coming   []barComing  `json:"coming"`
	Mails    barMails     `json:"mails"`
	Events   []barEvent   `json:"events"`
	Accounts []barAccount `json:"accounts"`
}

// barComing is a scheduled action. Kind is machine-readable, What is English text.
type barComing struct {
	At    string `json:"at"`
	Kind  string `json:"kind"`
	What  string `json:"what"`
	About string `json:"about"`
	Href  string `json:"href"` // path below the service's URL, or ""
}

type barMails struct {
	Count int       `json:"count"`
	Last  []barMail `json:"last"`
}

type barMail struct {
	ID      string `json:"id"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	SentAt  string `json:"sent_at"`
}

type barEvent struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	At      string `json:"at"`
	Waiting int    `json:"waiting"` // the number of receivers that have not accepted it
}

type barAccount struct {
	Role     string `json:"role"` // platform_admin or owner
	Email    string `json:"email"`
	Password string `json:"password"`
}

// showBar handles GET /sandbox/bar.
func (w *World) showBar(rw http.ResponseWriter, r *http.Request) {
	b, err := w.readBar(r.Context())
	if err != nil {
		writeJSON(rw, http.StatusInternalServerError, problem{Message: err.Error()})
		return
	}
	writeJSON(rw, http.StatusOK, map[string]bar{"data": b})
}

func (w *World) readBar(ctx context.Context) (bar, error) {
	b := bar{
		Now: format(w.time.clock.Now()), Coming: []barComing{}, Mails: barMails{Last: []barMail{}}, Events: []barEvent{},
		Accounts: []barAccount{{"platform_admin", AdminEmail, AdminPassword}, {"owner", OwnerEmail, OwnerPassword}},
	}
	coming, err := w.access.Coming(ctx, shownInBar)
	if err != nil {
		return b, err
	}
	for _, c := range coming {
		b.Coming = append(b.Coming, barComing{format(c.At), c.Kind, c.What, c.About, c.Href})
	}
	if b.Mails.Count, err = w.mailbox.Count(ctx); err != nil {
		return b, err
	}
	mails, err := w.mailbox.Messages(ctx, shownInBar)
	if err != nil {
		return b, err
	}
	for _, m := range mails {
		b.Mails.Last = append(b.Mails.Last, barMail{m.ID, m.To, m.Subject, format(m.SentAt)})
	}
	events, err := w.access.LastEvents(ctx, shownInBar)
	if err != nil {
		return b, err
	}
	for _, e := range events {
		b.Events = append(b.Events, barEvent{e.ID, e.Type, format(e.At), e.Waiting})
	}
	return b, nil
}

func format(t time.Time) string { return t.UTC().Format(timeLayout) }
