package settings

import (
	"slices"
	"strings"
)

// UnknownVariable is an environment variable that looks like a setting but is unknown.
type UnknownVariable struct {
	Name    string
	Nearest string // the setting with the most similar name
}

// prefix is the prefix of all variable names.
const prefix = "TENANTRY_"

// foreignPrefixes are the prefixes of variables that are not checked here: identity providers are
// checked separately, and the others are used by tests.
var foreignPrefixes = []string{prefix + "OAUTH_", prefix + "OIDC_", prefix + "TEST_"}

// UnknownVariables returns the variables of an environment, in the form of [os.Environ], that have
// the prefix of a setting but are not in known, sorted by name. The variable of a secret is known
// if the variable of its file is.
func UnknownVariables(environ, known []string) []UnknownVariable {
	names := slices.Clone(known)
	for _, name := range known {
		if secret, ok := strings.CutSuffix(name, "_FILE"); ok {
			names = append(names, secret)
		}
	}
	var unknown []UnknownVariable
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(names, name) ||
			slices.ContainsFunc(foreignPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		nearest := slices.MinFunc(names, func(a, b string) int { return editDistance(name, a) - editDistance(name, b) })
		unknown = append(unknown, UnknownVariable{Name: name, Nearest: nearest})
	}
	slices.SortFunc(unknown, func(a, b UnknownVariable) int { return strings.Compare(a.Name, b.Name) })
	return unknown
}

// editDistance returns the Levenshtein distance between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := corner
			if a[i] != b[j] {
				replace++
			}
			corner = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, replace)
		}
	}
	return row[len(b)]
}
