package invoices

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
)

// PDFPath returns the path of an invoice's PDF.
func PDFPath(id string) string { return kernel.OwnRoot + "/invoices/" + id + "/pdf" }

// PagePath returns the path of an invoice's payment page.
func PagePath(id string) string { return "/sandbox/invoices/" + id }

// FilePath returns the path of the PDF in the storage, to which PDFPath redirects.
func FilePath(id string) string { return kernel.OwnRoot + "/storage/" + id + ".pdf" }

// ServePDF returns the handler of PDF links. Like Stripe's links, they need no key and redirect to
// storage on another host. The other host is this machine: 127.0.0.1 redirects to localhost and
// vice versa. For other host names, ServePDF returns the file itself.
func ServePDF(e *kernel.Engine) http.HandlerFunc {
	file := ServeFile(e)
	return func(w http.ResponseWriter, r *http.Request) {
		host, port, _ := net.SplitHostPort(r.Host)
		other, ok := map[string]string{"127.0.0.1": "localhost", "localhost": "127.0.0.1"}[host]
		in, err := All.Find(r.Context(), e.Read().Q, r.PathValue("id"))
		if !ok || err != nil || in.Number == nil {
			file(w, r)
			return
		}
		http.Redirect(w, r, "http://"+net.JoinHostPort(other, port)+FilePath(in.ID), http.StatusFound) //nolint:gosec // to this machine itself
	}
}

// ServeFile returns the handler of the storage of PDFs.
func ServeFile(e *kernel.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, err := All.Find(r.Context(), e.Read().Q, strings.TrimSuffix(r.PathValue("id"), ".pdf"))
		if err != nil && !errors.Is(err, kernel.ErrNotFound) {
			e.Log().ErrorContext(r.Context(), "stripe sandbox: failed to render invoice PDF", slog.Any("error", err))
			http.Error(w, "Something went wrong in the payment sandbox.", http.StatusInternalServerError)
			return
		}
		if err != nil || in.Number == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `attachment; filename="Invoice-`+*in.Number+`.pdf"`)
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(renderPDF(in)) // an error means that the client has disconnected
	}
}

// renderPDF renders an invoice as one page. It uses a font that is built into all PDF readers.
func renderPDF(in *Invoice) []byte {
	var page pages.PDF
	page.Text(50, 20, "Invoice "+*in.Number)
	page.Text(50, 11, in.AccountName+" - no money was transferred")
	page.SkipLine()
	page.Text(50, 11, "Date: "+form.Day(in.Created))
	for _, about := range in.customer() {
		page.Text(50, 11, about)
	}
	page.SkipLine()
	for _, line := range in.Lines.Data {
		page.Text(50, 11, line.Description)
		if line.Period.End > line.Period.Start {
			page.Text(70, 9, form.Day(line.Period.Start)+" to "+form.Day(line.Period.End))
		}
		page.Text(70, 11, form.FormatAmount(line.Amount, in.Currency))
	}
	page.SkipLine()
	if off := in.TotalDiscountAmounts.Sum(); off > 0 {
		page.Text(50, 11, "Discount: "+form.FormatAmount(-off, in.Currency))
	}
	page.Text(50, 13, "Total: "+form.FormatAmount(in.Total, in.Currency))
	if in.EndingBalance != nil && *in.EndingBalance != in.StartingBalance {
		page.Text(50, 13, "From the balance: "+form.FormatAmount(*in.EndingBalance-in.StartingBalance, in.Currency))
	}
	page.Text(50, 13, "Paid: "+form.FormatAmount(in.AmountPaid, in.Currency))
	if in.CustomerTaxExempt == "reverse" {
		page.SkipLine()
		page.Text(50, 11, "Tax to be paid on reverse charge basis")
	}
	return page.Document()
}

// customer returns the lines with the customer's name, address, email and tax IDs.
func (in *Invoice) customer() []string {
	var lines []string
	add := func(parts ...*string) {
		var words []string
		for _, part := range parts {
			if part != nil && *part != "" {
				words = append(words, *part)
			}
		}
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	add(in.CustomerName)
	if a := in.CustomerAddress; a != nil {
		add(a.Line1)
		add(a.Line2)
		add(a.PostalCode, a.City, a.State)
		add(a.Country)
	}
	add(in.CustomerEmail)
	for _, id := range in.CustomerTaxIDs {
		lines = append(lines, "VAT "+id.Value)
	}
	return lines
}
