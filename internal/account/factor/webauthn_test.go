package factor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// A public key that cannot verify assertions is rejected at registration (RFC 9053, section 7, and
// RFC 8230, section 4, define the parameters).
func TestUnusableKeys(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	x, y := point[1:33], point[33:]
	modulus := make([]byte, 256)
	modulus[0], modulus[255] = 0xc1, 1
	type cose map[int]any
	for name, c := range map[string]struct {
		key    cose
		usable bool
	}{
		"ES256":                      {cose{1: 2, 3: -7, -1: 1, -2: x, -3: y}, true},
		"ES256 without y":            {cose{1: 2, 3: -7, -1: 1, -2: x}, false},
		"ES256 off the curve":        {cose{1: 2, 3: -7, -1: 1, -2: x, -3: x}, false},
		"ES256 on P-521":             {cose{1: 2, 3: -7, -1: 3, -2: x, -3: y}, false},
		"Ed25519":                    {cose{1: 1, 3: -8, -1: 6, -2: x}, true},
		"Ed25519 of 5 bytes":         {cose{1: 1, 3: -8, -1: 6, -2: x[:5]}, false},
		"Ed25519 for ES256":          {cose{1: 1, 3: -7, -1: 6, -2: x}, false},
		"RSA of 2048 bits":           {cose{1: 3, 3: -257, -1: modulus, -2: []byte{1, 0, 1}}, true},
		"RSA of 512 bits":            {cose{1: 3, 3: -257, -1: modulus[192:], -2: []byte{1, 0, 1}}, false},
		"RSA with leading zeros":     {cose{1: 3, 3: -257, -1: append(make([]byte, 256), modulus[:64]...), -2: []byte{1, 0, 1}}, false},
		"RSA with an exponent of 1":  {cose{1: 3, 3: -257, -1: modulus, -2: []byte{1}}, false},
		"RSA without a modulus":      {cose{1: 3, 3: -257, -2: []byte{1, 0, 1}}, false},
		"RSA for an elliptic curve":  {cose{1: 3, 3: -7, -1: modulus, -2: []byte{1, 0, 1}}, false},
		"a key of an unknown family": {cose{1: 9, 3: -7}, false},
	} {
		raw, err := webauthncbor.Marshal(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkKey(raw); (err == nil) != c.usable || err != nil && !errors.Is(err, errUnverified) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
