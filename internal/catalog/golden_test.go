package catalog_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "update the golden files")

var uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// golden compares a JSON response with testdata/<name>.json: the keys, their order and the values.
// Each UUID is replaced by a number in order of first appearance.
func golden(t *testing.T, name, text string) {
	t.Helper()
	ids := map[string]string{}
	masked := uuidForm.ReplaceAllStringFunc(text, func(id string) string {
		if _, ok := ids[id]; !ok {
			ids[id] = "uuid-" + strconv.Itoa(len(ids)+1)
		}
		return ids[id]
	})
	got := indent(t, masked)
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

func indent(t *testing.T, text string) string {
	t.Helper()
	out, err := json.MarshalIndent(json.RawMessage(text), "", "  ")
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return string(out) + "\n"
}
