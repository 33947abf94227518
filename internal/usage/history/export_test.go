package history

// The formats of an export.
const (
	FormatCSV   = formatCSV
	FormatLines = formatLines
)
