// Package meters implements billing meters and reported usage (rules: sandbox#metered-usage).
package meters
