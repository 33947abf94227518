package guides

import (
	"html/template"
	"regexp"
	"strings"
)

// tokens match comments and strings, the only highlighted tokens. A library with full grammars for
// each language would add 4 MB to the program.
var tokens = map[string]*regexp.Regexp{
	"#":  regexp.MustCompile(`(?m)(?P<comment>(?:^|[ \t])#[^\n]*)|(?P<string>"(?:\\.|[^"\\])*"|'[^']*')`),
	"//": regexp.MustCompile("(?m)(?P<comment>(?:^|[ \t])//[^\n]*)|(?P<string>\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|`[^`]*`)"),
	"--": regexp.MustCompile(`(?m)(?P<comment>--[^\n]*)|(?P<string>'[^']*')`),
	"$":  regexp.MustCompile(`(?m)(?P<comment>^[^$\n][^\n]*)|(?P<string>[^\s\S])`), // output of a command
}

var families = map[string]string{
	"sh": "#", "bash": "#", "yaml": "#", "python": "#", "toml": "#", "nginx": "#",
	"go": "//", "js": "//", "ts": "//", "tsx": "//", "jsx": "//", "json": "//", "mjs": "//",
	"sql": "--", "console": "$",
}

// highlightCode returns code as HTML, with comments and strings wrapped in spans.
func highlightCode(language, code string) string {
	pattern := tokens[families[language]]
	if pattern == nil {
		return template.HTMLEscapeString(code)
	}
	var b strings.Builder
	at := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(code, -1) {
		class := "c-c"
		if m[2] < 0 {
			class = "c-s"
		}
		b.WriteString(template.HTMLEscapeString(code[at:m[0]]))
		b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(code[m[0]:m[1]]) + `</span>`)
		at = m[1]
	}
	b.WriteString(template.HTMLEscapeString(code[at:]))
	return b.String()
}
