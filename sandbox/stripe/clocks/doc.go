// Package clocks has the endpoints of test clocks (rules: sandbox#test-clocks).
package clocks
