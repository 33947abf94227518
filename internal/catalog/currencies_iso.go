package catalog

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// isoList says in its head where it is from, and what is left out.
//
//go:embed iso4217.csv
var isoList string

// isoCurrencies lists the currencies of ISO 4217 that money can be asked for in,
// by code, each as it would be added.
func isoCurrencies() ([]Currency, error) {
	r := csv.NewReader(strings.NewReader(isoList))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("iso4217.csv: %w", err)
	}
	currencies := make([]Currency, 0, len(rows))
	for _, row := range rows[1:] {
		units, err := strconv.ParseInt(row[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("iso4217.csv: %s: %w", row[0], err)
		}
		currencies = append(currencies, Currency{
			Code: row[0], MinorUnits: int32(units), Symbol: row[2], Name: row[3], IsActive: true,
		})
	}
	return currencies, nil
}
