package settings

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// Secret is a text that never appears in a log, an error or a dump of the settings. It is always
// printed as [secret].
type Secret string

const redacted = "[secret]"

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }

// String implements fmt.Stringer.
func (Secret) String() string { return redacted }

// Format implements fmt.Formatter, so that no verb prints the text.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler, which keeps the text out of JSON.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// stripeSecret reads a required secret that starts with one of the prefixes.
func (p *parser) stripeSecret(name, file string, prefixes ...string) Secret {
	value := p.requiredSecret(name, file)
	if value == "" {
		return ""
	}
	for _, prefix := range prefixes {
		if strings.HasPrefix(value.Reveal(), prefix) {
			return value
		}
	}
	p.fail(name, "must begin with %s", strings.Join(prefixes, " or "))
	return ""
}

// webhookSecrets reads one secret, or several separated by commas. During a rotation, the old and
// the new one are valid.
func (p *parser) webhookSecrets(name, file string) []Secret {
	const prefix = "whsec_"
	var secrets []Secret
	for _, text := range list(p.requiredSecret(name, file).Reveal()) {
		if !strings.HasPrefix(text, prefix) {
			p.fail(name, "must begin with %s", prefix)
			return nil
		}
		secrets = append(secrets, Secret(text))
	}
	return secrets
}

// requiredSecret reads a secret from the environment or a file. It adds an error if there is none.
func (p *parser) requiredSecret(name, file string) Secret {
	before := len(p.errs)
	value := p.secretOf(name, p.getenv(name), file)
	if value == "" && len(p.errs) == before {
		p.fail(name, "required by %s", p.command)
	}
	return value
}

// secretOf returns the value or the content of the file. Setting both is an error.
func (p *parser) secretOf(name, value, file string) Secret {
	switch {
	case file == "":
		return Secret(value)
	case value != "":
		p.fail(name, "set together with %s_FILE; set only one of them", name)
		return ""
	}
	secret, err := ReadSecretFile(file)
	if err != nil {
		p.fail(name+"_FILE", "%v", err)
	}
	return secret
}

// maxSecret, in bytes, is longer than any secret. It prevents a wrong path, such as the path of a
// database, from being read completely.
const maxSecret = 16 << 10

// ReadSecretFile reads a secret from a file, without trailing line breaks. It returns an error if
// the file is empty or larger than 16 KiB.
func ReadSecretFile(path string) (Secret, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(content), "\r\n")
	switch {
	case len(content) > maxSecret:
		return "", fmt.Errorf("%s is too large for a secret", path)
	case secret == "":
		return "", fmt.Errorf("%s is empty", path)
	}
	return Secret(secret), nil
}
