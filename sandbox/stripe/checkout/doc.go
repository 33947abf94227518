// Package checkout implements checkout sessions and their hosted payment page (rules:
// sandbox#checkout).
package checkout
