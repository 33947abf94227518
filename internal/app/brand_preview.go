package app

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/pdf"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
)

// BrandMail is an email with sample data in the brand of the service.
type BrandMail struct {
	Subject string `json:"subject" doc:"Subject."`
	HTML    string `json:"html" doc:"Body, as an HTML document with inline styles."`
}

// brandPreview shows admins the brand of the service (rules: settings#brand).
type brandPreview struct {
	settings settings.Settings
	letters  *letters.Letters
	clock    clock.Clock
	log      *slog.Logger
}

// previewMail is the mail of the preview. It has the logo, a button in the accent and the footer.
const previewMail = "invitation"

// Mail handles GET /admin/brand/mail.
func (h brandPreview) Mail(ctx context.Context, _ *struct{}) (*rest.Data[BrandMail], error) {
	m, err := h.letters.Preview(ctx, previewMail, i18n.Locale(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(BrandMail{Subject: m.Subject, HTML: m.HTML}), nil
}

// Invoice handles GET /admin/brand/invoice.
func (h brandPreview) Invoice(ctx context.Context, _ *struct{}) (*rest.Blob, error) {
	renderer, err := pdf.New(pdf.Config{Maker: h.settings.Brand.App(), Practice: h.settings.StripeURL != nil, Log: h.log})
	if err != nil {
		return nil, err
	}
	file, _, err := renderer.Render(h.sample(i18n.Locale(ctx)))
	if err != nil {
		return nil, err
	}
	return &rest.Blob{ContentType: "application/pdf", Data: file, Disposition: rest.Attachment("sample-invoice.pdf")}, nil
}

// sample returns an invoice of today with one line.
func (h brandPreview) sample(locale string) invoice.Statement {
	now := h.clock.Now()
	end := now.AddDate(0, 1, 0)
	eur := func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: "EUR"} }
	name, street, city, code, country := "Acme & Sons", "Sample Street 1", "Dublin", "D02 X285", "IE"
	return invoice.Statement{
		Seller: h.settings.Invoices.Seller, MinorUnits: 2, Locale: locale,
		Invoice: invoice.Invoice{
			ID: uuid.Nil, Number: "0000-SAMPLE", Status: invoice.StatusOpen, IssueDate: now, DueDate: &end,
			Billed: invoice.BilledParty{Name: &name, Address: invoice.BilledAddress{Line1: &street, City: &city, PostalCode: &code, Country: &country}},
			Lines: []invoice.Line{{
				Description: "Team", Type: invoice.SubscriptionLine, Quantity: 3, UnitPrice: eur(2400), Amount: eur(7200), PeriodStart: &now, PeriodEnd: &end,
			}},
			Subtotal: eur(7200), Tax: eur(0), Total: eur(7200),
		},
	}
}
