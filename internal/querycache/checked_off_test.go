//go:build !checkcache

package querycache_test

const checked = false
