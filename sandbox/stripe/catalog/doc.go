// Package catalog implements products and prices.
package catalog
