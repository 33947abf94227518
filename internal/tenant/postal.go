package tenant

import "strings"

// postalCountries are the countries with postal codes: the territories in CLDR's
// supplemental/postalCodeData.xml.
const postalCountries = " AD AM AR AS AT AU AX AZ BA BB BD BE BG BH BM BN BR BY CA CC CH CK CL CN CR CV CX CY CZ DE DK DO DZ EC EE EG ES ET " +
	"FI FK FM FO FR GB GE GF GG GL GN GP GR GS GT GU GW HM HN HR HT HU ID IL IM IN IO IQ IS IT JE JO JP KE KG KH KR KW KZ LA LB LI LK LR " +
	"LS LT LU LV MA MC MD ME MG MH MK MN MP MQ MT MU MV MX MY NC NE NF NG NI NO NP NZ OM PF PG PH PK PL PM PN PR PT PW PY RE RO RS RU SA " +
	"SE SG SH SI SJ SK SM SN SO SZ TC TH TJ TM TN TR TW UA US UY UZ VA VE VI WF XK YT ZA ZM NL "

// hasPostalCodes reports whether addresses in a country (ISO 3166-1 alpha-2) have a postal code.
func hasPostalCodes(country string) bool { return strings.Contains(postalCountries, " "+country+" ") }
