// Package pages has what the provider's web pages share: their frame, their
// security policy and the answer when one of them fails.
package pages
