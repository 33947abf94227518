package authz

import "testing"

func TestEraseOrigins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"user_id":7,"name":"Bob","ip":"192.0.2.1","user_agent":"curl"}`:                   `{"user_id":7}`,
		`{"user_id":8,"impersonator_id":7,"name":"Bob","impersonation_reason":"x"}`:         `{"impersonator_id":7,"user_id":8}`,
		`{"user_id":7,"impersonator_id":9,"name":"Admin"}`:                                  "",
		`{"user_id":70,"name":"Eve"}`:                                                       "",
		`{"key_id":"k","name":"Key"}`:                                                       "",
		`{"name":"x","cents":9007199254740993,"scheduled":{"by":{"user_id":7,"name":"B"}}}`: `{"cents":9007199254740993,"name":"x","scheduled":{"by":{"user_id":7}}}`,
		`[{"user_id":7,"name":"Bob"},{"user_id":7,"name":"Bob"}]`:                           `[{"user_id":7},{"user_id":7}]`,
		`{"user_id":7}`: "",
		`null`:          "",
	} {
		got, found, err := EraseOrigins([]byte(text), 7)
		if err != nil || found != (want != "") || found && string(got) != want || !found && string(got) != text {
			t.Errorf("%s: %s, %v, %v", text, got, found, err)
		}
	}
	if _, _, err := EraseOrigins([]byte(`{`), 7); err == nil {
		t.Error("malformed text: no error")
	}
}
