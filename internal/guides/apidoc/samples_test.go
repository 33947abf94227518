package apidoc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/tenantry/tenantry/internal/guides/apidoc"
	"github.com/tenantry/tenantry/internal/testkit"
)

func read(t *testing.T) *apidoc.Reference {
	t.Helper()
	text, err := os.ReadFile("../../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := apidoc.Read(encoded, apidoc.Texts{})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// samplesIn returns the samples in a language, by operation.
func samplesIn(t *testing.T, language string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, g := range read(t).Groups {
		for _, op := range g.Operations {
			for _, sample := range op.Samples() {
				if sample.Language == language {
					all[op.ID] = sample.Code
				}
			}
		}
	}
	if len(all) < 250 {
		t.Fatalf("only %d samples in %s", len(all), language)
	}
	return all
}

// Every Go sample compiles with the Go client.
func TestGoSamplesCompile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("package samples\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n\t\"os\"\n\t\"time\"\n\n\t\"github.com/oapi-codegen/nullable\"\n\n" +
		"\t\"github.com/tenantry/tenantry/client\"\n\t\"github.com/tenantry/tenantry/client/api\"\n)\n\n" +
		"var _ = []any{json.Number(\"\"), os.Getenv, time.Now, nullable.Nullable[int]{}, new(api.Date)}\n\nfunc must[T any](value T, err error) T {\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\treturn value\n}\n")
	for id, code := range samplesIn(t, "go") {
		body := strings.ReplaceAll(code, "\n", "\n\t")
		if strings.Contains(code, "answer, err") {
			body += "_ = answer\n\treturn nil"
		} else {
			body += "return err"
		}
		fmt.Fprintf(&b, "\nfunc %s(ctx context.Context) error {\n\t%s\n}\n", id, body)
	}
	// An overlay adds the package to the module without writing there.
	folder := t.TempDir()
	file := filepath.Join(folder, "samples.go")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../../../client")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, "samples/samples.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-overlay", filepath.Join(folder, "overlay.json"), "./samples")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Every TypeScript sample compiles with the TypeScript client.
func TestTypeScriptSamplesCompile(t *testing.T) {
	t.Parallel()
	client, err := filepath.Abs("../../../clients/typescript")
	if err != nil {
		t.Fatal(err)
	}
	compiler := filepath.Join(client, "node_modules/.bin/tsc")
	for _, needed := range []string{compiler, filepath.Join(client, "src/schema.ts")} {
		if _, err := os.Stat(needed); err != nil {
			testkit.Skip(t, "ts-client", err)
		}
	}
	folder := t.TempDir()
	for id, code := range samplesIn(t, "ts") {
		code = strings.ReplaceAll(code, "'@tenantry/client'", "'"+client+"/src/index.js'") + "export {}\n"
		if strings.Contains(code, "const answer") {
			code += "void answer\n"
		}
		if err := os.WriteFile(filepath.Join(folder, id+".ts"), []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf(`{"extends": "%s/tsconfig.json", "compilerOptions": {"types": ["node"], "typeRoots": ["%[1]s/node_modules/@types"], "module": "nodenext"}, "include": ["*.ts"]}`, client)
	for name, text := range map[string]string{"tsconfig.json": config, "package.json": `{"type": "module"}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := exec.CommandContext(t.Context(), compiler, "-p", folder)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
