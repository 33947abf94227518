package app

import (
	"bytes"
	"log/slog"
	"net/url"
	"os"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// writeYAML writes a JSON document in YAML style.
func writeYAML(t *testing.T, document *yaml.Node) []byte {
	t.Helper()
	var clearStyle func(*yaml.Node)
	clearStyle = func(n *yaml.Node) {
		n.Style = 0
		for _, child := range n.Content {
			clearStyle(child)
		}
	}
	clearStyle(document)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The committed reference equals the served one. With TENANTRY_UPDATE set, the test
// writes the file.
func TestOpenAPIFile(t *testing.T) {
	t.Parallel()
	const file = "../../api/openapi.yaml"
	here := &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}
	svc, err := newService(settings.Settings{PublicURL: here, FrontendURL: here}, dbtest.New(t, sqldb.SQLite), environment{
		clock: clock.System(), pspKey: "sk_test_unused", webhookSecrets: []string{"unused"},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	text, err := svc.api.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node // preserves the numbers
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	want := writeYAML(t, &document)
	if os.Getenv("TENANTRY_UPDATE") != "" {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: run `make generate`", file)
	}
}
