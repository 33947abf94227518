// Package meters has billing meters and the usage that is reported to them
// (rules: sandbox#metered-usage).
package meters
