// Command site writes the guides and the API's reference into a folder, for any server of files:
//
//	go run ./docs/site OUT
package main

import (
	"fmt"
	"os"

	"github.com/tenantry/tenantry"
	"github.com/tenantry/tenantry/internal/guides"
	"github.com/tenantry/tenantry/web"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./docs/site OUT")
		os.Exit(2)
	}
	description := func() ([]byte, error) { return os.ReadFile("api/openapi.yaml") }
	site := guides.New(guides.Config{Texts: tenantry.Texts, Fonts: web.Files(), Description: description, Files: true})
	if err := site.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
