package pdf

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/bidi"
)

// run is a part of a line in one font family, in visual order.
type run struct{ family, text string }

// layOutRuns lays out a line: it joins Arabic letters, reorders right-to-left text, and selects a
// family for each character or replaces it.
func (d *document) layOutRuns(line string) []run {
	text := reorderVowelSigns([]rune(line))
	for _, r := range text {
		if isArabic(r) {
			text = shapeArabic(text)
			break
		}
	}
	text = reorderBidi(text)
	var out []run
	for _, r := range text {
		if isInvisible(r) {
			continue
		}
		family, r := d.draw(r)
		last := len(out) - 1
		if last >= 0 && out[last].family == family {
			out[last].text += string(r)
			continue
		}
		out = append(out, run{family, string(r)})
	}
	return out
}

// reorderVowelSigns moves the Devanagari vowel sign i before its consonant: it follows the
// consonant in Unicode and precedes it in print. Conjuncts are not formed: a virama stays visible,
// which is less common but correct.
func reorderVowelSigns(text []rune) []rune {
	const signI, nukta = '\u093f', '\u093c'
	for i, r := range text {
		if r != signI || i == 0 {
			continue
		}
		start := i - 1
		if text[start] == nukta && start > 0 {
			start--
		}
		copy(text[start+1:i+1], text[start:i])
		text[start] = signI
	}
	return text
}

// reorderBidi returns the characters of a line in visual order. It implements the Unicode bidirectional
// algorithm (UAX 9) for one line without embeddings, which names and addresses do not contain.
func reorderBidi(text []rune) []rune {
	classes := make([]bidi.Class, len(text))
	base, decided, mixed := 0, false, false
	for i, r := range text {
		p, _ := bidi.LookupRune(r)
		classes[i] = p.Class()
		right := classes[i] == bidi.R || classes[i] == bidi.AL
		if !decided && (right || classes[i] == bidi.L) {
			decided = true
			if right {
				base = 1
			}
		}
		mixed = mixed || right
	}
	if !mixed {
		return text
	}
	levels := levelsOf(classes, base)
	highest := 0
	for i, level := range levels {
		highest = max(highest, level)
		if level%2 == 1 {
			text[i] = mirrorBracket(text[i])
		}
	}
	for level := highest; level > 0; level-- { // L2
		for start := 0; start < len(text); start++ {
			end := start
			for end < len(text) && levels[end] >= level {
				end++
			}
			for i, j := start, end-1; i < j; i, j = i+1, j-1 {
				text[i], text[j], levels[i], levels[j] = text[j], text[i], levels[j], levels[i]
			}
			start = max(start, end-1)
		}
	}
	return text
}

// levelsOf resolves the embedding level of each character: even for left-to-right, odd for
// right-to-left. A number, including the signs within it, has the direction of the preceding
// letters. Other signs have the direction of the surrounding letters, or else of the line.
func levelsOf(classes []bidi.Class, base int) []int {
	const open = -1
	levels, sides := make([]int, len(classes)), make([]int, len(classes))
	strong := base // direction of the last letter: 0 for left-to-right, 1 for right-to-left
	for i, class := range classes {
		levels[i], sides[i] = open, open
		switch class {
		case bidi.L:
			strong = 0
			levels[i], sides[i] = 2*base, 0
		case bidi.R, bidi.AL:
			strong = 1
			levels[i], sides[i] = 1, 1
		case bidi.EN, bidi.AN:
			levels[i], sides[i] = 2*base, strong
			if strong == 1 || class == bidi.AN {
				levels[i], sides[i] = 2, 1
			}
		case bidi.CS, bidi.ES:
			if i > 0 && i+1 < len(classes) && number(classes[i-1]) && number(classes[i+1]) {
				levels[i], sides[i] = levels[i-1], sides[i-1]
			}
		case bidi.ET:
			if i > 0 && classes[i-1] == bidi.EN {
				levels[i], sides[i] = levels[i-1], sides[i-1]
			}
		}
	}
	for start := 0; start < len(levels); start++ {
		end := start
		for end < len(levels) && levels[end] == open {
			end++
		}
		before, after, level := base, base, base
		if start > 0 {
			before = sides[start-1]
		}
		if end < len(levels) {
			after = sides[end]
		}
		if before == after && before != base {
			level = 1 // right-to-left letters in a left-to-right line
			if before == 0 {
				level = 2
			}
		}
		for i := start; i < end; i++ {
			levels[i], sides[i] = level, before
		}
		start = max(start, end-1)
	}
	return levels
}

func number(c bidi.Class) bool { return c == bidi.EN || c == bidi.AN }

// mirrorBracket returns the mirrored bracket for right-to-left text.
func mirrorBracket(r rune) rune {
	pairs := []rune("()[]{}<>«»‹›")
	if i := slices.Index(pairs, r); i >= 0 {
		return pairs[i^1]
	}
	return r
}

// width returns the width of a line in the current style and size.
func (d *document) width(line string) (total float64) {
	for _, part := range d.layOutRuns(line) {
		d.useFont(part.family, d.style, d.size)
		total += d.GetStringWidth(part.text)
	}
	return total
}

// setFont sets the style and the size of the following text.
func (d *document) setFont(style string, size float64) { d.style, d.size = style, size }

// line draws a line in a box whose upper left corner is (x, y), aligned left or right.
func (d *document) line(x, y, width, height float64, align, text string) {
	all := d.layOutRuns(text)
	if align == "R" {
		x += width - d.width(text)
	}
	baseline := y + height/2 + d.size*0.352778*0.36 // half the height of a capital letter
	for _, part := range all {
		d.useFont(part.family, d.style, d.size)
		d.Text(x, baseline, part.text)
		x += d.GetStringWidth(part.text)
	}
}

// wrap breaks a text into lines of at most the given width: at spaces, between characters of
// scripts without spaces, and otherwise within a word.
func (d *document) wrap(text string, width float64) []string {
	var lines []string
	line := ""
	for _, word := range parts(text) {
		switch next := line + word; {
		case d.width(strings.TrimRight(next, " ")) <= width:
			line = next
		case line != "":
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.TrimLeft(word, " ")
		default:
			line = word
		}
		for d.width(strings.TrimRight(line, " ")) > width {
			fitting := d.truncate(line, width)
			if fitting == "" {
				break
			}
			lines = append(lines, fitting)
			line = line[len(fitting):]
		}
	}
	if line = strings.TrimRight(line, " "); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// parts splits a text at possible line breaks. Spaces belong to the preceding word.
func parts(text string) []string {
	var out []string
	word := ""
	var last rune
	for _, r := range text {
		if word != "" && r != ' ' && (last == ' ' || (familyOf(r) == han || familyOf(last) == han) && !cannotBeginLine(r) && last != '（' && last != '「') {
			out = append(out, word)
			word = ""
		}
		word += string(r)
		last = r
	}
	if word != "" {
		out = append(out, word)
	}
	return out
}

// cannotBeginLine reports whether a line must not begin with r.
func cannotBeginLine(r rune) bool {
	return strings.ContainsRune("、。，．：；！？）」』】〕ー々", r)
}

// truncate cuts a text to a width.
func (d *document) truncate(s string, width float64) string {
	runes := []rune(s)
	for len(runes) > 0 && d.width(string(runes)) > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes)
}
