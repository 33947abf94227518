package billing

// What tests of the package need to know.
const (
	ChunkSize    = chunkSize
	ResendWithin = resendWithin
)
