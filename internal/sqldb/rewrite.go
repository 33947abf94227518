package sqldb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// maxRewrites bounds the memory of a rewriter, since lists with filters build texts at
// run time. Texts that do not fit are rewritten each time.
const maxRewrites = 4096

// rewriter turns PostgreSQL's text into SQLite's and remembers the result.
type rewriter struct {
	known sync.Map // query → statement
	size  atomic.Int64
}

// statement is a text for SQLite.
type statement struct {
	text string
	// within is the text for a transaction, which ends when a statement fails. SQLite need not be able
	// to undo an insert alone there: for that it would copy each page that an insert of many rows changes.
	within string
	// reads says that the statement changes nothing.
	reads bool
}

func newRewriter() *rewriter { return &rewriter{} }

// Statements returns the texts that ran on SQLite so far, as they were before they were
// rewritten, sorted. Tests look at their plans.
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
	// A cast's type: a name, perhaps of several words, with its length and as an
	// array.
	cast = regexp.MustCompile(`(?i)::\s*(?:timestamp\s+with(?:out)?\s+time\s+zone|double\s+precision|character\s+varying|[a-z_][a-z0-9_.]*)` +
		`(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?(?:\[\])*`)
	// A row lock. SQLite's write transaction is the lock, so nothing replaces it.
	rowLock = regexp.MustCompile(`(?i)\bFOR\s+(?:NO\s+KEY\s+UPDATE|KEY\s+SHARE|UPDATE|SHARE)\b` +
		`(?:\s+OF\s+[a-z_][a-z0-9_.]*(?:\s*,\s*[a-z_][a-z0-9_.]*)*)?(?:\s+NOWAIT\b|\s+SKIP\s+LOCKED\b)?`)
	// The order of bytes, which PostgreSQL and SQLite have under different names.
	byteOrder   = regexp.MustCompile(`\bCOLLATE "C"`)
	placeholder = regexp.MustCompile(`\$\d+`)
	// A number of rows that a statement is given. SQLite looks at it to plan, and where it comes after the
	// 31st parameter, it plans anew at each run. A number with a sign is not looked at.
	limit      = regexp.MustCompile(`(?i)(\bLIMIT\s+)(\$\d)`)
	insert     = regexp.MustCompile(`(?i)^((?:\s|--[^\n]*\n)*INSERT)(\s+INTO\b)`)
	firstWord  = regexp.MustCompile(`(?i)^[\s(]*(select|values|with)\b`)
	changeWord = regexp.MustCompile(`(?i)\b(insert|update|delete|replace)\b`)
)

// toSQLite removes casts and row locks from the code of query, gives limits a sign and
// renames the order of bytes; string literals, other quoted names and comments stay as
// they are.
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
		// A common table expression may come before any statement. A column with one
		// of these names sends a query to the writer, which is slower but correct.
		reads = !changeWord.MatchString(code.String())
	}
	return statement{text: text.String(), within: insert.ReplaceAllString(text.String(), "$1 OR FAIL$2"), reads: reads}
}

// isSequential reports whether the placeholders are $1, $2, … in this order, each once, so
// that they need no numbers. SQLite searches all placeholders for each number that is
// bound, which is slow with the thousands of a bulk insert.
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

// split cuts query into its pieces; together they are query. Dollar quotes and
// nested comments, which no statement of the project needs, are not recognised.
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

// verbatimLength returns the length of the literal, quoted name or comment that s
// begins with, 0 if it begins with code. A doubled quote inside a literal ends
// one literal and begins the next, which has the same result.
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
