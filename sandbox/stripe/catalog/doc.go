// Package catalog has products and their prices.
package catalog
