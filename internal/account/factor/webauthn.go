package factor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"
)

// challengeLifetime is how long a WebAuthn challenge is valid. The service checks it by its own
// clock, and browsers get it as the timeout.
const challengeLifetime = 5 * time.Minute

// passkeyUser is a user in the terms of the WebAuthn library.
type passkeyUser struct {
	handle      []byte
	name, email string
	passkeys    []Passkey
}

// WebAuthnID implements webauthn.User.
func (u passkeyUser) WebAuthnID() []byte { return u.handle }

// WebAuthnName implements webauthn.User.
func (u passkeyUser) WebAuthnName() string { return u.email }

// WebAuthnDisplayName implements webauthn.User.
func (u passkeyUser) WebAuthnDisplayName() string { return u.name }

// WebAuthnCredentials implements webauthn.User.
func (u passkeyUser) WebAuthnCredentials() []webauthn.Credential {
	list := make([]webauthn.Credential, len(u.passkeys))
	for i, p := range u.passkeys {
		list[i] = p.record
	}
	return list
}

// descriptors lists the passkeys of the user for the options of a ceremony.
func (u passkeyUser) descriptors() []protocol.CredentialDescriptor {
	list := make([]protocol.CredentialDescriptor, len(u.passkeys))
	for i, p := range u.passkeys {
		list[i] = p.record.Descriptor()
	}
	return list
}

// algorithms are the accepted algorithms of passkeys: ES256, EdDSA and RS256.
func algorithms() []protocol.CredentialParameter {
	list := []protocol.CredentialParameter{}
	for _, a := range []webauthncose.COSEAlgorithmIdentifier{webauthncose.AlgES256, webauthncose.AlgEdDSA, webauthncose.AlgRS256} {
		list = append(list, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: a})
	}
	return list
}

// relyingParty returns the library's object for a ceremony on a page of an origin. The library
// needs a list of origins, but first-party origins are determined by a function, so the list
// contains only the origin of the ceremony.
func (s *Service) relyingParty(origin string) (*webauthn.WebAuthn, error) {
	timeout := webauthn.TimeoutConfig{Timeout: challengeLifetime, TimeoutUVD: challengeLifetime}
	return webauthn.New(&webauthn.Config{
		RPID: s.deps.RPID, RPDisplayName: s.deps.AppName, RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationPreferred,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: timeout, Registration: timeout},
		// Password managers return outputs that were not requested. They have no effect.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
}

// anyOrigin is the origin for creating options, which do not depend on the origin.
const anyOrigin = "https://localhost"

// creationOptions returns the options to register a passkey, and the session data to store until
// the registration.
func (s *Service) creationOptions(user passkeyUser) (options, session []byte, err error) {
	party, err := s.relyingParty(anyOrigin)
	if err != nil {
		return nil, nil, err
	}
	creation, data, err := party.BeginRegistration(user, webauthn.WithExclusions(user.descriptors()), webauthn.WithCredentialParameters(algorithms()))
	if err != nil {
		return nil, nil, err
	}
	return encode(creation.Response, data, "excludeCredentials")
}

// requestOptions returns the options to use a passkey of the user, and the session data to store
// until the use.
func (s *Service) requestOptions(user passkeyUser) (options, session []byte, err error) {
	party, err := s.relyingParty(anyOrigin)
	if err != nil {
		return nil, nil, err
	}
	assertion, data, err := party.BeginDiscoverableLogin(webauthn.WithAllowedCredentials(user.descriptors()))
	if err != nil {
		return nil, nil, err
	}
	data.UserID, data.AllowedCredentialIDs = user.handle, assertion.Response.GetAllowedCredentialIDs()
	return encode(assertion.Response, data, "allowCredentials")
}

// discoverableOptions returns the options to log in with any passkey of the browser.
func (s *Service) discoverableOptions() (options, session []byte, err error) {
	party, err := s.relyingParty(anyOrigin)
	if err != nil {
		return nil, nil, err
	}
	assertion, data, err := party.BeginDiscoverableLogin()
	if err != nil {
		return nil, nil, err
	}
	return encode(assertion.Response, data, "allowCredentials")
}

// encode returns the JSON of options and of the data of a challenge. The options always include the
// field named list, which the library omits if it is empty.
func encode(options any, data *webauthn.SessionData, list string) (encoded, session []byte, err error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, nil, err
	}
	if fields[list] == nil {
		fields[list] = json.RawMessage("[]")
	}
	if encoded, err = json.Marshal(fields); err != nil {
		return nil, nil, err
	}
	session, err = json.Marshal(data)
	return encoded, session, err
}

// verifyCreation returns the record of a new passkey. It returns errUnverified if the credential
// does not verify.
func (s *Service) verifyCreation(user passkeyUser, session, credential []byte) (webauthn.Credential, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(credential)
	if err != nil {
		return webauthn.Credential{}, fmt.Errorf("%w: %w", errUnverified, err)
	}
	party, data, err := s.ceremony(parsed.Response.CollectedClientData.Origin, session)
	if err != nil {
		return webauthn.Credential{}, err
	}
	record, err := party.CreateCredential(user, data, parsed)
	if err != nil {
		return webauthn.Credential{}, fmt.Errorf("%w: %w", errUnverified, err)
	}
	return *record, checkKey(record.PublicKey)
}

// minModulus is the minimum length of an RSA modulus in bits.
const minModulus = 2048

// checkKey returns errUnverified for a public key that cannot verify assertions. Without
// attestation, a registration does not prove that the key can sign.
func checkKey(raw []byte) error {
	key, err := webauthncose.ParsePublicKey(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnverified, err)
	}
	isUsable := false
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData:
		isUsable = k.Algorithm == int64(webauthncose.AlgES256) && k.Curve == int64(webauthncose.P256)
	case webauthncose.OKPPublicKeyData:
		isUsable = k.Algorithm == int64(webauthncose.AlgEdDSA)
	case webauthncose.RSAPublicKeyData:
		isUsable = k.Algorithm == int64(webauthncose.AlgRS256) && new(big.Int).SetBytes(k.Modulus).BitLen() >= minModulus && new(big.Int).SetBytes(k.Exponent).BitLen() > 1
	}
	if !isUsable {
		return fmt.Errorf("%w: the public key does not fit its algorithm", errUnverified)
	}
	return nil
}

// ceremony returns the library's object and the session data of a challenge, for a page of an
// origin. It returns errUnverified if the origin is not first-party.
func (s *Service) ceremony(origin string, session []byte) (*webauthn.WebAuthn, webauthn.SessionData, error) {
	var data webauthn.SessionData
	if !s.deps.FirstParty(origin) {
		return nil, data, fmt.Errorf("%w: the origin %q is not first-party", errUnverified, origin)
	}
	if err := json.Unmarshal(session, &data); err != nil {
		return nil, data, err
	}
	party, err := s.relyingParty(origin)
	return party, data, err
}

// verifyAssertion returns the passkey of the user that made an assertion, with its updated record,
// and whether the authenticator has verified the user. It returns errUnverified if the assertion
// does not verify.
func (s *Service) verifyAssertion(ctx context.Context, user passkeyUser, session []byte, parsed *protocol.ParsedCredentialAssertionData) (p Passkey, userVerified bool, err error) {
	party, data, err := s.ceremony(parsed.Response.CollectedClientData.Origin, session)
	if err != nil {
		return Passkey{}, false, err
	}
	var record *webauthn.Credential
	if len(data.UserID) > 0 {
		record, err = party.ValidateLogin(user, data, parsed)
	} else {
		record, err = party.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return user, nil }, data, parsed)
	}
	if err != nil {
		return Passkey{}, false, fmt.Errorf("%w: %w", errUnverified, err)
	}
	i := slices.IndexFunc(user.passkeys, func(p Passkey) bool { return encodeID(p.record.ID) == encodeID(record.ID) })
	if i < 0 {
		return Passkey{}, false, errUnverified
	}
	p = user.passkeys[i]
	if record.Authenticator.CloneWarning {
		s.deps.Log.WarnContext(ctx, "sign counter of a passkey went back: it may have been cloned", "passkey", p.ID)
		return Passkey{}, false, errUnverified
	}
	p.record = *record
	return p, parsed.Response.AuthenticatorData.Flags.HasUserVerified(), nil
}

// encodeID returns the ID of a credential as it is stored.
func encodeID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }
