package sqldb

// DeriveSchema exports deriveSchema for tests that create tables.
func DeriveSchema(text string) string { return deriveSchema(text) }

// Waiting returns the number of callers waiting to run a transaction on SQLite.
func (db *DB) Waiting() int { return int(db.groups.waiting.Load()) }

// SQLiteParams are the settings of every SQLite connection.
const SQLiteParams = sqliteParams
