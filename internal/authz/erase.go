package authz

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// EraseOrigins removes the personal data of a user from each Origin in a JSON text, and reports whether
// it has found any. The ID of the user remains.
func EraseOrigins(text []byte, userID int64) (erased []byte, found bool, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // keeps all digits
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, false, err
	}
	if !eraseOrigins(value, json.Number(strconv.FormatInt(userID, 10))) {
		return text, false, nil
	}
	erased, err = json.Marshal(value)
	return erased, true, err
}

func eraseOrigins(value any, userID json.Number) (found bool) {
	switch v := value.(type) {
	case []any:
		for _, nested := range v {
			found = eraseOrigins(nested, userID) || found
		}
	case map[string]any:
		person, isImpersonated := v["impersonator_id"]
		if !isImpersonated {
			person = v["user_id"]
		}
		if person == userID {
			for _, key := range []string{"name", "ip", "user_agent", "impersonation_reason"} {
				_, has := v[key]
				found = found || has
				delete(v, key)
			}
		}
		for _, nested := range v {
			found = eraseOrigins(nested, userID) || found
		}
	}
	return found
}
