package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

func currencyOf(row catalogsql.Currency) (Currency, error) {
	return Currency{
		Code:       row.Code,
		Name:       row.Name,
		Symbol:     row.Symbol,
		MinorUnits: row.MinorUnits,
		IsActive:   row.IsActive,
	}, nil
}

func productOf(row catalogsql.Product) (Product, error) {
	name, description, err := texts(row.Name, row.Description)
	if err != nil {
		return Product{}, fmt.Errorf("product %s: %w", row.ID, err)
	}
	return Product{
		ID:          row.ID,
		Slug:        row.Slug,
		Name:        name,
		Description: description,
		IsActive:    row.IsActive,
		Metadata:    row.Metadata,
		CreatedAt:   row.CreatedAt,
		UpdatedAt:   row.UpdatedAt,
	}, nil
}

func featureOf(row catalogsql.Feature) (Feature, error) {
	name, description, err := texts(row.Name, row.Description)
	if err != nil {
		return Feature{}, fmt.Errorf("feature %s: %w", row.ID, err)
	}
	return Feature{
		ID:          row.ID,
		Code:        row.Code,
		Name:        name,
		Description: description,
		IsActive:    row.IsActive,
		IsSystem:    row.IsSystem,
		SortOrder:   row.SortOrder,
		Metadata:    row.Metadata,
		CreatedAt:   row.CreatedAt,
		UpdatedAt:   row.UpdatedAt,
	}, nil
}

func texts(name, description sqldb.JSON) (n, d Text, err error) {
	if err := json.Unmarshal(name, &n); err != nil {
		return nil, nil, fmt.Errorf("name: %w", err)
	}
	if description == nil {
		return n, nil, nil
	}
	if err := json.Unmarshal(description, &d); err != nil {
		return nil, nil, fmt.Errorf("description: %w", err)
	}
	return n, d, nil
}

// Column returns the database value of a text: JSON, or null if the text is empty.
func (t Text) Column() sqldb.JSON {
	if len(t) == 0 {
		return nil
	}
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // a map of strings can always be encoded
	}
	return text
}
