package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// digest is the hash of a key that has been read. Its fixed size keeps memory use low for long
// files.
type digest [16]byte

func hashParts(parts ...string) digest {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return digest(sum[:16])
}

// hashOf returns the hash of a key as stored in the database.
func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// lineHash returns the hash of all columns of a line except some.
func lineHash(r row, columns []column, except ...string) string {
	var parts []string
	for _, c := range columns {
		if !slices.Contains(except, c.name) {
			parts = append(parts, r.get(c.name))
		}
	}
	return hashOf(parts...)
}

// pass tracks the lines read so far in one pass over the files.
type pass struct {
	lines  int
	making bool              // each line is imported as it is read
	seen   map[digest]bool   // by kind and key
	places map[digest]digest // the tenant that the user will belong to, by email
	added  map[digest]int64  // by tenant, number of members that the import will add to the database
	plans  map[digest]seats  // by tenant, the seats of the subscription that the import adds
}

// seats holds the seats of a subscription.
type seats struct {
	limit  *int64 // maximum number of members; nil means unlimited
	billed *int64 // nil unless the plan is per seat
}

// checkBilled returns a problem if the team has more members than a per-seat subscription is billed
// for: the next change of the team would raise the price.
func (s seats) checkBilled(members int64) error {
	if s.billed == nil || members <= *s.billed {
		return nil
	}
	return newProblem("tenant", "the subscription is billed for %d seats, but the team has %d members; increase the quantity at Stripe or import fewer members", *s.billed, members)
}

func newPass(making bool) *pass {
	return &pass{making: making, seen: map[digest]bool{}, places: map[digest]digest{}, added: map[digest]int64{}, plans: map[digest]seats{}}
}

// addMembership records that the user will be a member of the tenant.
func (p *pass) addMembership(address, tenant string) {
	p.places[hashParts(address)] = hashParts(tenant)
	if !p.making {
		p.added[hashParts(tenant)]++
	}
}

// checkUnique records a value and returns a problem if an earlier line has the same value.
func (p *pass) checkUnique(field, kind, value string) error {
	key := hashParts(kind, value)
	if p.seen[key] {
		return newProblem(field, "%q also appears in an earlier line", value)
	}
	p.seen[key] = true
	return nil
}

// has reports whether an earlier line has the value.
func (p *pass) has(kind, value string) bool { return p.seen[hashParts(kind, value)] }

// progress writes a progress message every progressLines lines.
func (p *pass) progress(out io.Writer, name, done string) error {
	if p.lines++; p.lines%progressLines != 0 || out == nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%s: %d lines %s in total\n", name, p.lines, done)
	return err
}
