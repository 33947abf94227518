package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// digest stands for a text in memory. Its size is the same for all texts, so that what is
// remembered of long files stays small.
type digest [16]byte

func hashParts(parts ...string) digest {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return digest(sum[:16])
}

// hashOf is what the database keeps of a text.
func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// lineHash is the hash of the columns of a line, but for some.
func lineHash(r row, columns []column, except string) string {
	var parts []string
	for _, c := range columns {
		if c.name != except {
			parts = append(parts, r.get(c.name))
		}
	}
	return hashOf(parts...)
}

// pass is what is known of the lines that one reading of the files has seen.
type pass struct {
	lines  int
	making bool              // each line is imported as it is read
	seen   map[digest]bool   // by kind and key
	places map[digest]digest // the tenant that a user will be in, by email
	added  map[digest]int64  // how many members a tenant will have more than the database has
}

func newPass(making bool) *pass {
	return &pass{making: making, seen: map[digest]bool{}, places: map[digest]digest{}, added: map[digest]int64{}}
}

// addMembership notes that a user will be in a tenant.
func (p *pass) addMembership(address, tenant string) {
	p.places[hashParts(address)] = hashParts(tenant)
	if !p.making {
		p.added[hashParts(tenant)]++
	}
}

// checkUnique notes a value that may be there once, and refuses its repetition.
func (p *pass) checkUnique(field, kind, value string) error {
	key := hashParts(kind, value)
	if p.seen[key] {
		return newProblem(field, "%q is in an earlier line too", value)
	}
	p.seen[key] = true
	return nil
}

// has reports whether an earlier line has a value.
func (p *pass) has(kind, value string) bool { return p.seen[hashParts(kind, value)] }

// progress tells how far a file has come.
func (p *pass) progress(out io.Writer, name, done string) error {
	if p.lines++; p.lines%progressLines != 0 || out == nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s: %d lines of all files %s\n", name, p.lines, done)
	return err
}
