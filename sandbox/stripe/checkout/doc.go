// Package checkout has checkout sessions and the hosted page on which one is paid
// (rules: sandbox#checkout).
package checkout
