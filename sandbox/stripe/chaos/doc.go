// Package chaos makes the provider misbehave on purpose: it loses, repeats, delays
// and reorders webhooks, lets calls to the API fail, and sends stored events again
// (rules: sandbox#chaos).
package chaos
