//go:build !race

package main

import "testing"

// program runs the tests with this test binary as `tenantry`.
type program struct{ *testing.M }
