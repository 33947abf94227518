package invoice

import "strings"

// union are the countries that have the common VAT, by what their VAT numbers begin with.
const union = " AT BE BG CY CZ DE DK EE EL GR ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// InUnion reports whether a country, as VAT numbers begin with it or by its code, has the
// common VAT.
func InUnion(country string) bool { return country != "" && strings.Contains(union, " "+country+" ") }

// Home returns what a VAT number begins with: its country, where it has one.
func Home(number string) string {
	number = strings.ToUpper(strings.TrimSpace(number))
	return number[:min(2, len(number))]
}

// ReverseCharge reports whether the payer owes the tax: both have VAT numbers of different
// members of the union, and the invoice has no tax.
func (s Statement) ReverseCharge() bool {
	seller, payer := Home(s.Seller.VATNumber), Home(s.VATNumber)
	return InUnion(seller) && InUnion(payer) && seller != payer && s.Invoice.Tax.AmountCents == 0 && s.Invoice.Total.AmountCents != 0
}
