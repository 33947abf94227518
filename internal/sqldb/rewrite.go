package sqldb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// maxRewrites limits the memory of a rewriter, because lists with filters build queries at run
// time. Queries beyond the limit are rewritten each time.
const maxRewrites = 4096

// rewriter converts PostgreSQL queries to SQLite and caches the results.
type rewriter struct {
	known sync.Map // query → statement
	size  atomic.Int64
}

// statement is a statement for SQLite.
type statement struct {
	text string
	// within is the text for use in a transaction. A failed statement ends the transaction, so
	// SQLite does not need to be able to undo a failed insert separately. Otherwise it would copy
	// every page that an insert of many rows changes.
	within string
	// reads is true if the statement changes nothing.
	reads bool
}

func newRewriter() *rewriter { return &rewriter{} }

// Statements returns the statements that have run on SQLite so far, sorted, in their original form.
// Tests check their query plans.
func (db *DB) Statements() []string {
	var texts []string
	for query := range db.rewriter.known.Range {
		texts = append(texts, query.(string))
	}
	slices.Sort(texts)
	return texts
}

func (r *rewriter) rewrite(query string) statement {
	if s, ok := r.known.Load(query); ok {
		return s.(statement)
	}
	s := toSQLite(query)
	if r.size.Add(1) <= maxRewrites {
		r.known.Store(query, s)
	} else {
		r.size.Add(-1)
	}
	return s
}

var (
	// A cast: a type name, possibly of several words, with a length or as an array.
	cast = regexp.MustCompile(`(?i)::\s*(?:timestamp\s+with(?:out)?\s+time\s+zone|double\s+precision|character\s+varying|[a-z_][a-z0-9_.]*)` +
		`(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?(?:\[\])*`)
	// A row lock. It is removed, because SQLite's write transaction locks everything.
	rowLock = regexp.MustCompile(`(?i)\bFOR\s+(?:NO\s+KEY\s+UPDATE|KEY\s+SHARE|UPDATE|SHARE)\b` +
		`(?:\s+OF\s+[a-z_][a-z0-9_.]*(?:\s*,\s*[a-z_][a-z0-9_.]*)*)?(?:\s+NOWAIT\b|\s+SKIP\s+LOCKED\b)?`)
	// Byte order has different names in PostgreSQL and SQLite.
	byteOrder   = regexp.MustCompile(`\bCOLLATE "C"`)
	placeholder = regexp.MustCompile(`\$\d+`)
	// A LIMIT parameter. SQLite uses its value for planning and, if it comes after the 31st
	// parameter, replans the statement at each run. A signed value is not used for planning.
	limit      = regexp.MustCompile(`(?i)(\bLIMIT\s+)(\$\d)`)
	insert     = regexp.MustCompile(`(?i)^((?:\s|--[^\n]*\n)*INSERT)(\s+INTO\b)`)
	firstWord  = regexp.MustCompile(`(?i)^[\s(]*(select|values|with)\b`)
	changeWord = regexp.MustCompile(`(?i)\b(insert|update|delete|replace)\b`)
)

// toSQLite removes casts and row locks from query, adds a sign to limits and renames the byte
// order. String literals, other quoted names and comments are unchanged.
func toSQLite(query string) statement {
	query = byteOrder.ReplaceAllString(query, "COLLATE BINARY")
	pieces := split(query)
	var text, code strings.Builder
	for i, p := range pieces {
		if p.code {
			pieces[i].text = limit.ReplaceAllString(rowLock.ReplaceAllString(cast.ReplaceAllString(p.text, ""), ""), "$1+$2")
			code.WriteString(pieces[i].text)
		}
	}
	inOrder := isSequential(code.String())
	for _, p := range pieces {
		if p.code && inOrder {
			p.text = placeholder.ReplaceAllString(p.text, "?")
		}
		text.WriteString(p.text)
	}
	first := firstWord.FindStringSubmatch(code.String())
	reads := first != nil
	if reads && strings.EqualFold(first[1], "with") {
		// A common table expression can precede any statement. A column with one of these names
		// sends a query to the writer, which is slower but correct.
		reads = !changeWord.MatchString(code.String())
	}
	return statement{text: text.String(), within: insert.ReplaceAllString(text.String(), "$1 OR FAIL$2"), reads: reads}
}

// isSequential reports whether the placeholders are $1, $2, … in order and without repetition, so
// that they need no numbers. SQLite searches all placeholders for each numbered parameter, which is
// slow for bulk inserts with thousands of them.
func isSequential(code string) bool {
	n := 0
	for _, p := range placeholder.FindAllString(code, -1) {
		if n++; p != "$"+strconv.Itoa(n) {
			return false
		}
	}
	return true
}

// piece is a part of an SQL text: code, or a literal, quoted name or comment.
type piece struct {
	text string
	code bool
}

// split splits query into consecutive pieces. It does not recognize dollar quotes and nested
// comments, which the project does not use.
func split(query string) []piece {
	var pieces []piece
	start := 0
	for i := 0; i < len(query); {
		n := verbatimLength(query[i:])
		if n == 0 {
			i++
			continue
		}
		if i > start {
			pieces = append(pieces, piece{text: query[start:i], code: true})
		}
		pieces = append(pieces, piece{text: query[i : i+n]})
		i += n
		start = i
	}
	if start < len(query) {
		pieces = append(pieces, piece{text: query[start:], code: true})
	}
	return pieces
}

// verbatimLength returns the length of the literal, quoted name or comment at the start of s, or 0
// if s starts with code. A doubled quote in a literal ends one literal and starts the next, which
// has the same effect.
func verbatimLength(s string) int {
	begin, end := s[:1], s[:1]
	switch {
	case s[0] == '\'' || s[0] == '"':
	case strings.HasPrefix(s, "--"):
		begin, end = "--", "\n"
	case strings.HasPrefix(s, "/*"):
		begin, end = "/*", "*/"
	default:
		return 0
	}
	if i := strings.Index(s[len(begin):], end); i >= 0 {
		return len(begin) + i + len(end)
	}
	return len(s)
}
