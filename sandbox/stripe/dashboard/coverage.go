package dashboard

import (
	_ "embed"
	"strings"
)

// coverageText has a line for each endpoint: its method, path and parameters. A test of package
// stripe generates it by calling the endpoints.
//
//go:embed coverage.txt
var coverageText string

// coveredParams maps the method and path of an endpoint to its parameters.
func coveredParams() map[string][]string {
	params := map[string][]string{}
	for line := range strings.Lines(coverageText) {
		fields := strings.Fields(line)
		if len(fields) >= 2 {
			params[fields[0]+" "+fields[1]] = fields[2:]
		}
	}
	return params
}
