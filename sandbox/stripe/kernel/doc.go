// Package kernel is the provider's engine: it keeps objects, runs changes of them
// in transactions, records and delivers events, fires timers and takes requests
// to their endpoints. It knows nothing of what an object means. The packages
// above it bring the objects, and package stripe connects them
// (rules: sandbox#webhooks).
package kernel
