//go:build checkcache

package querycache_test

// checked reports that every hit is loaded again, so that loads cannot be counted.
const checked = true
