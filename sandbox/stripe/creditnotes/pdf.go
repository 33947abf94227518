package creditnotes

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
)

// PDFPath returns the path of a credit note's PDF.
func PDFPath(id string) string { return kernel.OwnRoot + "/credit_notes/" + id + "/pdf" }

// ServePDF returns the handler of PDF links. Like Stripe's links, they need no key.
func ServePDF(e *kernel.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		note, err := All.Find(r.Context(), e.Read().Q, r.PathValue("id"))
		if err != nil && !errors.Is(err, kernel.ErrNotFound) {
			e.Log().ErrorContext(r.Context(), "stripe sandbox: failed to render credit note PDF", slog.Any("error", err))
			http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
			return
		}
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `attachment; filename="CreditNote-`+note.Number+`.pdf"`)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(render(note)) // an error means that the client has disconnected
	}
}

func render(note *CreditNote) []byte {
	var page pages.PDF
	page.Text(50, 20, "Credit note "+note.Number)
	page.Text(50, 11, "No money was transferred")
	page.SkipLine()
	page.Text(50, 11, "Date: "+form.Day(note.EffectiveAt))
	if note.Memo != nil {
		page.Text(50, 11, *note.Memo)
	}
	page.SkipLine()
	for _, line := range note.Lines.Data {
		if line.Description != nil {
			page.Text(50, 11, *line.Description)
		}
		page.Text(70, 11, form.FormatAmount(line.Amount-line.DiscountAmount, note.Currency))
	}
	page.SkipLine()
	page.Text(50, 13, "Total: "+form.FormatAmount(note.Total, note.Currency))
	return page.Document()
}
