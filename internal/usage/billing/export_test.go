package billing

// Exports for tests.
const (
	ChunkSize    = chunkSize
	ResendWithin = resendWithin
)
