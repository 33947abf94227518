// Package factortest simulates the second factors of a user: a WebAuthn authenticator, together
// with the part of a browser that talks to it, and an authenticator app. It follows WebAuthn level
// 2 and RFC 6238. Apart from CBOR, it shares no code with the library that the service verifies
// passkeys with.
package factortest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// The algorithms of COSE (RFC 9053).
const (
	ES256 = -7
	EdDSA = -8
	RS256 = -257
)

// Key is a passkey in an authenticator.
type Key struct {
	ID     []byte
	Handle []byte // user handle
	RPID   string
	// Origin is the origin of the page that uses the key.
	Origin string
	// Verifies means that the authenticator verifies its user (UV).
	Verifies bool
	// Synced means that the key is backed up (BE and BS).
	Synced bool
	// Counter is the sign counter; each use increments it, unless it is 0.
	Counter uint32

	t         testing.TB
	algorithm int
	private   crypto.Signer
}

// Flags of authenticator data.
const (
	flagPresent  = 0x01
	flagVerified = 0x04
	flagEligible = 0x08
	flagBackup   = 0x10
	flagAttested = 0x40
)

// New returns a key that verifies its user. The key exists once it is registered.
func New(t testing.TB, origin string) *Key { return NewWith(t, origin, ES256) }

// NewWith is New with an algorithm.
func NewWith(t testing.TB, origin string, algorithm int) *Key {
	t.Helper()
	k := &Key{ID: make([]byte, 32), Origin: origin, Verifies: true, t: t, algorithm: algorithm}
	_, _ = rand.Read(k.ID)
	var err error
	switch algorithm {
	case EdDSA:
		_, k.private, err = ed25519.GenerateKey(rand.Reader)
	case RS256:
		k.private, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		k.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Register returns a credential for the options of a registration.
func (k *Key) Register(options map[string]any) map[string]any {
	k.t.Helper()
	user, _ := options["user"].(map[string]any)
	party, _ := options["rp"].(map[string]any)
	k.Handle, k.RPID = k.decode(user["id"]), party["id"].(string)
	attested := make([]byte, 16, 256) // the AAGUID of an authenticator that does not name itself
	attested = binary.BigEndian.AppendUint16(attested, uint16(len(k.ID)))
	attested = append(append(attested, k.ID...), k.publicKey()...)
	object := k.encode(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": append(k.authData(flagAttested), attested...)})
	return k.credential(map[string]any{
		"clientDataJSON": encode(k.clientData("webauthn.create", options)), "attestationObject": encode(object), "transports": []any{"internal"},
	})
}

// Assert returns an assertion for the options of a request.
func (k *Key) Assert(options map[string]any) map[string]any {
	k.t.Helper()
	if k.Counter > 0 {
		k.Counter++
	}
	client, data := k.clientData("webauthn.get", options), k.authData(0)
	hash := sha256.Sum256(client)
	return k.credential(map[string]any{
		"clientDataJSON": encode(client), "authenticatorData": encode(data), "signature": encode(k.sign(append(data, hash[:]...))), "userHandle": encode(k.Handle),
	})
}

func (k *Key) credential(response map[string]any) map[string]any {
	return map[string]any{
		"id": encode(k.ID), "rawId": encode(k.ID), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{}, "authenticatorAttachment": "platform",
	}
}

func (k *Key) clientData(ceremony string, options map[string]any) []byte {
	k.t.Helper()
	text, err := json.Marshal(map[string]any{"type": ceremony, "challenge": options["challenge"], "origin": k.Origin, "crossOrigin": false})
	if err != nil {
		k.t.Fatal(err)
	}
	return text
}

func (k *Key) authData(flags byte) []byte {
	flags |= flagPresent
	if k.Verifies {
		flags |= flagVerified
	}
	if k.Synced {
		flags |= flagEligible | flagBackup
	}
	party := sha256.Sum256([]byte(k.RPID))
	return binary.BigEndian.AppendUint32(append(party[:], flags), k.Counter)
}

// publicKey returns the public key in the form of COSE (RFC 9053, section 7).
func (k *Key) publicKey() []byte {
	k.t.Helper()
	key := map[int]any{3: k.algorithm}
	switch public := k.private.Public().(type) {
	case ed25519.PublicKey:
		key[1], key[-1], key[-2] = 1, 6, []byte(public)
	case *rsa.PublicKey:
		key[1], key[-1], key[-2] = 3, public.N.Bytes(), []byte{1, 0, 1}
	case *ecdsa.PublicKey:
		point, err := public.Bytes() // 4, x, y
		if err != nil {
			k.t.Fatal(err)
		}
		key[1], key[-1], key[-2], key[-3] = 2, 1, point[1:33], point[33:]
	}
	return k.encode(key)
}

func (k *Key) sign(data []byte) []byte {
	k.t.Helper()
	hash := sha256.Sum256(data)
	signed, options := hash[:], crypto.SignerOpts(crypto.SHA256)
	if k.algorithm == EdDSA {
		signed, options = data, crypto.Hash(0)
	}
	signature, err := k.private.Sign(rand.Reader, signed, options)
	if err != nil {
		k.t.Fatal(err)
	}
	return signature
}

func (k *Key) encode(v any) []byte {
	k.t.Helper()
	mode, err := cbor.CTAP2EncOptions().EncMode()
	if err != nil {
		k.t.Fatal(err)
	}
	text, err := mode.Marshal(v)
	if err != nil {
		k.t.Fatal(err)
	}
	return text
}

func (k *Key) decode(v any) []byte {
	k.t.Helper()
	text, _ := v.(string)
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		k.t.Fatal(err)
	}
	return data
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
