package currency

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/catalog"
)

// isoList is the list of ISO 4217 currencies. Its header names the source and the omissions.
//
//go:embed iso4217.csv
var isoList string

// isoCurrencies returns the supported ISO 4217 currencies by code, all active.
func isoCurrencies() ([]catalog.Currency, error) {
	r := csv.NewReader(strings.NewReader(isoList))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("iso4217.csv: %w", err)
	}
	currencies := make([]catalog.Currency, 0, len(rows))
	for _, row := range rows[1:] {
		units, err := strconv.ParseInt(row[1], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("iso4217.csv: %s: %w", row[0], err)
		}
		currencies = append(currencies, catalog.Currency{
			Code: row[0], MinorUnits: int32(units), Symbol: row[2], Name: row[3], IsActive: true,
		})
	}
	return currencies, nil
}
