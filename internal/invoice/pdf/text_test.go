package pdf

import (
	"strings"
	"testing"
)

// The expected values are Unicode presentation forms in visual order, taken from the Unicode
// Character Database and checked in a rendered document.
func TestVisual(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain (text) 1-2": "plain (text) 1-2", "": "",
		// Joined letters: isolated, initial, medial and final.
		"بببب": "\uFE90\uFE92\uFE92\uFE91", "ب": "\uFE8F",
		// A letter that does not join the next one splits the word.
		"دار": "\uFEAD\uFE8D\uFEA9", "باب": "\uFE8F\uFE8E\uFE91",
		// Lam and alef form a ligature, alone and after another letter.
		"لا": "\uFEFB", "بلا": "\uFEFC\uFE91", "الأ": "\uFEF7\uFE8D",
		// Persian letters, a non-joiner and a tatweel.
		"گپ": "\uFB57\uFB94", "ب\u200cب": "\uFE8F\uFE8F", "بـب": "\uFE90\u0640\uFE91",
		// Diacritics are dropped.
		"بَّب": "\uFE90\uFE91",
		// Hebrew with mirrored brackets.
		"שלום (בע\"מ)": "(\u05DE\"\u05E2\u05D1) \u05DD\u05D5\u05DC\u05E9",
		// Numbers keep their order in both directions.
		"\u05D0 12-34 \u05D1":  "\u05D1 12-34 \u05D0",
		"Haus \u05D0\u05D1 12": "Haus 12 \u05D1\u05D0",
		"12 \u05D0\u05D1":      "\u05D1\u05D0 12",
		"A1 \u05D0\u05D1, B2":  "A1 \u05D1\u05D0, B2",
		// A Latin name in a right-to-left line.
		"\u05D0 Acme Ltd. \u05D1": "\u05D1 .Acme Ltd \u05D0",
	} {
		var got strings.Builder
		for _, part := range newDocument().layOutRuns(text) {
			got.WriteString(part.text)
		}
		if got.String() != want {
			t.Errorf("%q: %+q, want %+q", text, got.String(), want)
		}
	}
}

func newDocument() *document {
	return &document{Fpdf: newPage(), faces: map[string]*loadedFont{}, missing: map[rune]bool{}}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	var families []string
	for _, part := range newDocument().layOutRuns("Acme 株式会社 ひらがな 주식회사 Ωμέγα Юпитер שלום ไทย ქართული Հայերեն हिन्दी \U0001F680") {
		families = append(families, part.family)
	}
	if got := strings.Join(families, " "); got != "sans han sans han sans hangul sans hebrew sans thai sans georgian sans armenian sans devanagari sans" {
		t.Error(got)
	}
}

// Lines break at spaces, between characters of scripts without spaces, and within words that are
// too long. No character is lost.
func TestWrap(t *testing.T) {
	t.Parallel()
	d := newDocument()
	d.setFont("", textSize)
	for text, lines := range map[string]int{
		"": 0, "one": 1, strings.Repeat("word ", 30): 8, strings.Repeat("x", 100): 6, strings.Repeat("漢字、", 20): 7, "a " + strings.Repeat("y", 60): 5,
	} {
		got := d.wrap(text, 30)
		if len(got) < lines-2 || len(got) > lines+2 || lines < 2 && len(got) != lines {
			t.Errorf("%q: %d lines: %q", text, len(got), got)
		}
		if strings.ReplaceAll(strings.Join(got, ""), " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%q became %q", text, got)
		}
		for _, line := range got {
			if strings.HasPrefix(line, "、") || d.width(line) > 30 {
				t.Errorf("the line %q", line)
			}
		}
	}
	if d.Error() != nil {
		t.Error(d.Error())
	}
}
