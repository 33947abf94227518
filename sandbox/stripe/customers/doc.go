// Package customers implements customers and their cards and bank accounts. It also decides whether
// the bank accepts a card.
package customers
