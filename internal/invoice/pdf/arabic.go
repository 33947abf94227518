package pdf

import "unicode"

// forms are the Unicode presentation forms of an Arabic letter: isolated, final, initial and
// medial. A letter that does not join the next one has only the first two.
type forms [4]rune

func fourForms(first rune) forms { return forms{first, first + 1, first + 2, first + 3} }
func twoForms(first rune) forms  { return forms{first, first + 1} }

// letters maps the Arabic alphabet, including the letters of Persian, Urdu and Kurdish, to their
// forms. Other letters are drawn in isolated form.
var letters = map[rune]forms{
	0x0621: {0xFE80}, 0x0622: twoForms(0xFE81), 0x0623: twoForms(0xFE83), 0x0624: twoForms(0xFE85), 0x0625: twoForms(0xFE87), 0x0626: fourForms(0xFE89),
	0x0627: twoForms(0xFE8D), 0x0628: fourForms(0xFE8F), 0x0629: twoForms(0xFE93), 0x062A: fourForms(0xFE95), 0x062B: fourForms(0xFE99), 0x062C: fourForms(0xFE9D),
	0x062D: fourForms(0xFEA1), 0x062E: fourForms(0xFEA5), 0x062F: twoForms(0xFEA9), 0x0630: twoForms(0xFEAB), 0x0631: twoForms(0xFEAD), 0x0632: twoForms(0xFEAF),
	0x0633: fourForms(0xFEB1), 0x0634: fourForms(0xFEB5), 0x0635: fourForms(0xFEB9), 0x0636: fourForms(0xFEBD), 0x0637: fourForms(0xFEC1), 0x0638: fourForms(0xFEC5),
	0x0639: fourForms(0xFEC9), 0x063A: fourForms(0xFECD), 0x0641: fourForms(0xFED1), 0x0642: fourForms(0xFED5), 0x0643: fourForms(0xFED9), 0x0644: fourForms(0xFEDD),
	0x0645: fourForms(0xFEE1), 0x0646: fourForms(0xFEE5), 0x0647: fourForms(0xFEE9), 0x0648: twoForms(0xFEED), 0x0649: {0xFEEF, 0xFEF0, 0xFBE8, 0xFBE9}, 0x064A: fourForms(0xFEF1),
	0x0671: twoForms(0xFB50), 0x0679: fourForms(0xFB66), 0x067E: fourForms(0xFB56), 0x0686: fourForms(0xFB7A), 0x0688: twoForms(0xFB88), 0x0691: twoForms(0xFB8C),
	0x0698: twoForms(0xFB8A), 0x06A9: fourForms(0xFB8E), 0x06AF: fourForms(0xFB92), 0x06BA: twoForms(0xFB9E), 0x06BE: fourForms(0xFBAA), 0x06C0: twoForms(0xFBA4),
	0x06C1: fourForms(0xFBA6), 0x06C6: twoForms(0xFBD9), 0x06CC: fourForms(0xFBFC), 0x06D2: twoForms(0xFBAE), 0x06D3: twoForms(0xFBB0),
}

// lamAlef maps an alef to the ligature of lam and that alef.
var lamAlef = map[rune]rune{0x0622: 0xFEF5, 0x0623: 0xFEF7, 0x0625: 0xFEF9, 0x0627: 0xFEFB}

const (
	lam        = 0x0644
	tatweel    = 0x0640 // joins on both sides
	nonJoiner  = 0x200C
	zeroJoiner = 0x200D
)

// shapeArabic replaces Arabic letters with their contextual forms. It drops diacritics, because
// names are written without them.
func shapeArabic(text []rune) []rune {
	var in []rune
	for _, r := range text {
		if !unicode.Is(unicode.Mn, r) || !isArabic(r) && (r < 0x0590 || r > 0x05FF) {
			in = append(in, r)
		}
	}
	var out []rune
	joined := false // whether the previous letter joins the next one
	for i := 0; i < len(in); i++ {
		r := in[i]
		var next rune
		if i+1 < len(in) {
			next = in[i+1]
		}
		of, known := letters[r]
		switch {
		case r == nonJoiner:
			joined = false
		case r == tatweel || r == zeroJoiner:
			joined = true
			if r == tatweel {
				out = append(out, r)
			}
		case !known:
			joined = false
			out = append(out, r)
		case r == lam && lamAlef[next] != 0:
			form := lamAlef[next]
			if joined {
				form++
			}
			out, joined = append(out, form), false
			i++
		default:
			before := joined && of[1] != 0
			after := of[2] != 0 && joinsPrevious(next)
			switch {
			case before && after:
				out = append(out, of[3])
			case after:
				out = append(out, of[2])
			case before:
				out = append(out, of[1])
			default:
				out = append(out, of[0])
			}
			joined = after
		}
	}
	return out
}

// joinsPrevious reports whether a character joins the previous letter.
func joinsPrevious(r rune) bool { return r == tatweel || r == zeroJoiner || letters[r][1] != 0 }
