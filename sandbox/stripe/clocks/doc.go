// Package clocks implements the endpoints of test clocks (rules: sandbox#test-clocks).
package clocks
