package currency

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/catalog"
)

// isoList names its source in its first lines, and what it leaves out.
//
//go:embed iso4217.csv
var isoList string

// isoCurrencies returns the currencies of ISO 4217 that amounts can be stored in,
// by code, as they are when they are added: active.
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
