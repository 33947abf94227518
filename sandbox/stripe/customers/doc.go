// Package customers has customers and the cards and bank accounts that they pay
// with, and decides what the bank says to a card.
package customers
