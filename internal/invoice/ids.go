package invoice

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// stableID makes the UUID by which an object of the provider is known here: a
// version 7 of its time and, instead of random bits, a hash of its own id. The
// same object always has the same one, on every instance and without storing it.
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
