package plain

import (
	"bytes"

	"github.com/tenantry/tenantry/internal/money"
)

// Reader is what a part of a body implements that reads itself from its usual form. ReadPlain
// reports whether the text was in that form; if not, it has changed nothing.
type Reader interface{ ReadPlain(text []byte) bool }

// Object goes over the members of an object in its plain form: one space at most after a
// comma or a colon, and strings in printable ASCII without escapes. Anything else ends it.
type Object struct {
	text []byte // what is left
	key  []byte
	some bool // whether there was a member
	end  bool
	bad  bool
}

// Read begins an object.
func Read(text []byte) Object {
	rest, ok := bytes.CutPrefix(text, []byte{'{'})
	return Object{text: rest, bad: !ok}
}

// Next goes to the next member and reports whether there is one.
func (o *Object) Next() bool {
	if o.bad {
		return false
	}
	if o.take('}') {
		o.end = true
		return false
	}
	if o.some {
		if !o.take(',') {
			return o.fail()
		}
		o.take(' ')
	}
	o.some = true
	o.key = o.quoted()
	if o.bad || !o.take(':') {
		return o.fail()
	}
	o.take(' ')
	return true
}

// Key returns the key of the member, which is valid until the text changes.
func (o *Object) Key() []byte { return o.key }

// Ended reports whether the whole text was one object in its plain form.
func (o *Object) Ended() bool { return o.end && !o.bad && len(o.text) == 0 }

// Text returns the member's value: a string of up to 255 characters with something in it and
// without a space at either end.
func (o *Object) Text() string {
	text := o.quoted()
	if len(text) == 0 || len(text) > 255 || text[0] == ' ' || text[len(text)-1] == ' ' {
		o.bad = true
		return ""
	}
	return string(text)
}

// Quantity returns the member's value: a number from 0 to 10^12 with up to six decimals,
// without an exponent.
func (o *Object) Quantity() money.Quantity {
	n := 0
	for n < len(o.text) && (o.text[n] >= '0' && o.text[n] <= '9' || o.text[n] == '.') {
		n++
	}
	q, err := money.ParseQuantity(string(o.text[:n]))
	if err != nil {
		o.bad = true
		return 0
	}
	o.text = o.text[n:]
	return q
}

// mostMembers is how many members an object of the caller's may have here: each key is
// compared with those before it.
const mostMembers = 16

// Flat returns the member's value, in memory of its own: an object of the caller's with strings,
// short integers, true, false and null, without spaces, whose keys differ. It is at most
// maxBytes long.
func (o *Object) Flat(maxBytes int) []byte {
	whole := o.text
	inner := Read(whole)
	var keys [mostMembers][]byte
	for n := 0; inner.Next(); n++ {
		if n == mostMembers {
			inner.bad = true
			break
		}
		for _, key := range keys[:n] {
			inner.bad = inner.bad || bytes.Equal(key, inner.key)
		}
		keys[n] = inner.key
		inner.scalar()
	}
	flat := whole[:len(whole)-len(inner.text)]
	if inner.bad || !inner.end || len(flat) > maxBytes || bytes.Contains(flat, []byte(`: `)) || bytes.Contains(flat, []byte(`, `)) {
		o.bad = true
		return nil
	}
	o.text = inner.text
	return bytes.Clone(flat)
}

// maxDigits is how long an integer of a flat object may be.
const maxDigits = 15

// scalar goes over a value that is no object and no list.
func (o *Object) scalar() {
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(o.text, []byte(word)) {
			o.text = o.text[len(word):]
			return
		}
	}
	if len(o.text) > 0 && o.text[0] == '"' {
		o.quoted()
		return
	}
	o.take('-')
	n := 0
	for n < len(o.text) && o.text[n] >= '0' && o.text[n] <= '9' {
		n++
	}
	o.bad = o.bad || n == 0 || n > maxDigits || n > 1 && o.text[0] == '0'
	if !o.bad {
		o.text = o.text[n:]
	}
}

// quoted goes over a string and returns what is between its quotes.
func (o *Object) quoted() []byte {
	if !o.take('"') {
		o.bad = true
		return nil
	}
	for i, c := range o.text {
		switch {
		case c == '"':
			text := o.text[:i]
			o.text = o.text[i+1:]
			return text
		case c < ' ' || c > '~' || c == '\\':
			o.bad = true
			return nil
		}
	}
	o.bad = true
	return nil
}

// take goes over one character, and reports whether it came next.
func (o *Object) take(c byte) bool {
	if len(o.text) == 0 || o.text[0] != c {
		return false
	}
	o.text = o.text[1:]
	return true
}

func (o *Object) fail() bool {
	o.bad = true
	return false
}
