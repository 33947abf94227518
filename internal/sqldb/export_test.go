package sqldb

// DeriveSchema is deriveSchema, for tests that make tables of their own.
func DeriveSchema(text string) string { return deriveSchema(text) }
