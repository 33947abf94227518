package dashboard

import (
	_ "embed"
	"strings"
)

// coverageText has a line for each endpoint: its method and path, and the
// parameters that it takes. A test of package stripe writes it by asking.
//
//go:embed coverage.txt
var coverageText string

// coveredParams returns the parameters of the endpoints by method and path.
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
