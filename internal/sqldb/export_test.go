package sqldb

// DeriveSchema is deriveSchema, for tests that make tables of their own.
func DeriveSchema(text string) string { return deriveSchema(text) }

// Waiting is how many wait to run a transaction on SQLite.
func (db *DB) Waiting() int { return int(db.groups.waiting.Load()) }

// SQLiteParams are the settings of every SQLite connection.
const SQLiteParams = sqliteParams
