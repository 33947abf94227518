// Package portal has billing portal sessions and the hosted page on which
// customers look after their subscriptions (rules: sandbox#portal).
package portal
