// Package chaos injects faults into the provider: it drops, duplicates, delays and reorders
// webhooks, makes API calls fail, and replays stored events (rules: sandbox#chaos).
package chaos
