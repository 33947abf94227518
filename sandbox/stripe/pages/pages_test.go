package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// The pages use the language of the session, or else of the customer, or else of the browser, and
// the brand's look.
func TestPageLanguage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, func(c *stripe.Config) { c.Brand = theme.Brand{Name: "Acme", Accent: "#7a1fa2"} })
	price := w.Price(123_450, "eur", "month")
	sub := w.Subscribe(price, "pm_card_visa")
	customer := sub.At("customer")
	path := func(url string) string { return strings.TrimPrefix(url, stripetest.Site) }
	checkout := path(w.Checkout(price, "locale=fr").At("url"))
	browser := path(w.Checkout(price).At("url"))
	portal := path(w.Post("/v1/billing_portal/sessions", "locale=it&customer="+customer).At("url"))
	theirs := path(w.Post("/v1/billing_portal/sessions", "locale=auto&customer="+customer).At("url"))
	bill := "/sandbox/invoices/" + sub.At("latest_invoice")
	w.Post("/v1/customers/"+customer, "preferred_locales[0]=es")
	for name, c := range map[string]struct {
		path, browser string
		want          []string
	}{
		"checkout":               {checkout, "it", []string{`lang="fr"`, "1\u202f234,50\u00a0€ / mois", "Payer 1\u202f234,50\u00a0€", "Numéro de carte", "est refusée"}},
		"checkout of a browser":  {browser, "it-CH, en;q=0.2", []string{`lang="it"`, "1.234,50\u00a0€ / mese", "Abbonati"}},
		"checkout of another":    {browser, "de", []string{`lang="en"`, "€1,234.50 / month", "Subscribe"}},
		"portal":                 {portal, "fr", []string{`lang="it"`, "Fatturazione", "Si rinnova il ", "Pagata", "Visa che termina con 4242"}},
		"portal of the customer": {theirs, "fr", []string{`lang="es"`, "Facturación", "Cancelar al final del periodo"}},
		"invoice":                {bill, "fr", []string{`lang="es"`, "Esta factura está pagada. Gracias.", "Descargar la factura (PDF)", "1.234,50\u00a0€"}},
		"no checkout":            {"/sandbox/checkout/cs_none", "es", []string{`lang="es"`, "Este pago no existe"}},
		"no portal":              {"/sandbox/portal/bps_none", "it", []string{`lang="it"`, "Questa pagina non esiste"}},
		"no invoice":             {"/sandbox/invoices/in_none", "fr", []string{`lang="fr"`, "Cette facture n’existe pas"}},
	} {
		got := w.Send(http.MethodGet, c.path, "", "Accept-Language", c.browser)
		body := got.Body.String()
		for _, want := range append(c.want, "<strong>Acme</strong>", "/sandbox/brand.css") {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q in %s", name, want, body)
			}
		}
		if got.Header().Get("Vary") != "Accept-Language" {
			t.Errorf("%s: Vary is %q", name, got.Header().Get("Vary"))
		}
	}
	// Error messages are translated, too.
	for card, want := range map[string]string{
		"4000 0000 0000 0002": "Votre carte a été refusée.", "1": "Ce numéro de carte n’est pas valide.", "": "Saisissez un numéro de carte.", "4000 0027 6000 3184": "Confirmez-vous ce paiement de 1\u202f234,50\u00a0€\u202f?",
	} {
		if body := w.Form(checkout, "card_number", card).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s: no %q in %s", card, want, body)
		}
	}
}
