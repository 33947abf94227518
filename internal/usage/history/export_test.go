package history

// Exports for tests.
const (
	FormatCSV   = formatCSV
	FormatLines = formatLines
)
