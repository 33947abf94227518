// Package portal implements billing portal sessions and the hosted page where customers manage
// their subscriptions (rules: sandbox#portal).
package portal
