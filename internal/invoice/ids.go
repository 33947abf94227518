package invoice

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// stableID computes the UUID that an object of the provider has here: a version 7 of its
// creation time with a hash of the provider's id in place of random bits. The same
// object has the same UUID on every instance, without storing it.
func stableID(pspID string, created time.Time) uuid.UUID {
	var id uuid.UUID
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(created.UnixMilli()))
	copy(id[:6], ms[2:])
	sum := sha256.Sum256([]byte(pspID))
	copy(id[6:], sum[:])
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // RFC 9562's variant
	return id
}
