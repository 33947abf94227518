package versions

import (
	"strconv"
	"testing"
)

// All keys that have changed are known to have, and of a thousand others few are taken for such. With
// one number for each key these would be sixty.
func TestKeysShareNumbers(t *testing.T) {
	t.Parallel()
	rows := table{byKey: make([]cell, stripes)}
	for i := range 1000 {
		for _, c := range rows.of("changed" + strconv.Itoa(i)) {
			c.changed.Store(2)
		}
	}
	lost := 0
	for i := range 1000 {
		if !rows.of("changed" + strconv.Itoa(i)).changedAfter(1) {
			t.Fatalf("key %d has changed", i)
		}
		if rows.of("kept" + strconv.Itoa(i)).changedAfter(1) {
			lost++
		}
	}
	if lost > 35 {
		t.Errorf("%d of 1000 are lost, want about 13", lost)
	}
}
