package billing

// Step returns the smallest payable amount in a currency, in Stripe's minor units. It is 10 for
// currencies with three decimals, 100 for zero-decimal currencies that Stripe counts in hundredths,
// and 1 for all others.
func Step(code string) int64 {
	switch code {
	case "bhd", "jod", "kwd", "omr", "tnd":
		return 10
	case "isk", "ugx":
		return 100
	}
	return 1
}

// MaxAmount returns the maximum amount of one payment in a currency.
func MaxAmount(code string) int64 {
	if code == "idr" {
		return 999_999_999_999
	}
	return 99_999_999
}

// MinAmount returns the minimum amount of one payment in a currency, or 0 if Stripe documents no
// minimum.
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
