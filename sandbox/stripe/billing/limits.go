package billing

// Step returns the smallest amount that can be paid in a currency, in the minor
// units of Stripe: ten in currencies with three decimals, a hundred where
// Stripe counts hundredths that do not exist, otherwise one.
func Step(code string) int64 {
	switch code {
	case "bhd", "jod", "kwd", "omr", "tnd":
		return 10
	case "isk", "ugx":
		return 100
	}
	return 1
}

// MaxAmount returns the highest amount of one payment in a currency.
func MaxAmount(code string) int64 {
	if code == "idr" {
		return 999_999_999_999
	}
	return 99_999_999
}

// MinAmount returns the lowest amount of one payment in a currency, 0 where Stripe
// names none.
func MinAmount(code string) int64 {
	switch code {
	case "aud", "brl", "cad", "chf", "eur", "inr", "jpy", "nzd", "sgd", "usd":
		return 50
	case "gbp":
		return 30
	case "bgn":
		return 100
	case "aed", "myr", "pln", "ron":
		return 200
	case "dkk":
		return 250
	case "nok", "sek":
		return 300
	case "hkd":
		return 400
	case "mxn", "thb":
		return 1000
	case "czk":
		return 1500
	case "huf":
		return 17500
	}
	return 0
}
