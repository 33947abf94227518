// Package kernel is the provider's engine. It stores objects, changes them in transactions, records
// and delivers events, fires timers and routes requests to endpoints. It does not depend on the
// meaning of an object: the packages above it define the objects, and package stripe connects them
// (rules: sandbox#webhooks).
package kernel
