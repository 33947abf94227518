package sqldb

// DeriveSchema is deriveSchema, for tests that make tables of their own.
func DeriveSchema(text string) string { return deriveSchema(text) }

// Waiting is how many wait to run a transaction on SQLite.
func (db *DB) Waiting() int { return int(db.groups.waiting.Load()) }

// LogSize is how long SQLite's write-ahead log is, in bytes; LongLog, when it is written back.
func (db *DB) LogSize() int64 { return db.groups.log.Size() }

const LongLog = longLog

// SQLiteParams are the settings of every SQLite connection.
const SQLiteParams = sqliteParams
