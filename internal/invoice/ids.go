package invoice

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// stableID derives this service's UUID for a provider object: a version 7 UUID of its creation
// time, with a hash of the provider's ID instead of random bits. Every instance derives the same
// UUID, so it need not be stored.
func stableID(pspID string, created time.Time) uuid.UUID {
	var id uuid.UUID
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(created.UnixMilli()))
	copy(id[:6], ms[2:])
	sum := sha256.Sum256([]byte(pspID))
	copy(id[6:], sum[:])
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // RFC 9562 variant
	return id
}
