package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
)

const dnsSchema = `CREATE TABLE IF NOT EXISTS sandbox_dns (name TEXT PRIMARY KEY, txt TEXT NOT NULL)` // a JSON list

// maxDNSBody is the maximum size of a request to change DNS records, in bytes.
const maxDNSBody = 64 << 10

// dnsRecords are the TXT records of a name.
type dnsRecords struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// DNS returns the sandbox's name server.
func (w *World) DNS() *DNS { return &DNS{w} }

// DNS is a name server that only has the TXT records that its users set.
type DNS struct{ world *World }

// dnsName returns the form in which names are compared.
func dnsName(text string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(text), "."))
}

// LookupTXT returns the TXT records of a name, or a net.DNSError for a name without records.
func (d *DNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	all, err := d.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, records := range all {
		if records.Name == dnsName(name) {
			return records.Values, nil
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (d *DNS) list(ctx context.Context) (all []dnsRecords, err error) {
	rows, err := d.world.db.QueryContext(ctx, `SELECT name, txt FROM sandbox_dns ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("sandbox: dns: %w", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		var records dnsRecords
		var text string
		if err := rows.Scan(&records.Name, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &records.Values); err != nil {
			return nil, err
		}
		all = append(all, records)
	}
	return all, rows.Err()
}

// put replaces the records of a name.
func (d *DNS) put(ctx context.Context, records dnsRecords) error {
	if len(records.Values) == 0 {
		_, err := d.world.db.ExecContext(ctx, `DELETE FROM sandbox_dns WHERE name = ?`, records.Name)
		return err
	}
	text, err := json.Marshal(records.Values)
	if err != nil {
		return err
	}
	_, err = d.world.db.ExecContext(ctx, `
		INSERT INTO sandbox_dns (name, txt) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET txt = excluded.txt`, records.Name, string(text))
	return err
}

// show handles GET /sandbox/dns.
func (d *DNS) show(w http.ResponseWriter, r *http.Request) {
	all, err := d.list(r.Context())
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, problem{Message: err.Error()})
		return
	}
	if all == nil {
		all = []dnsRecords{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": all})
}

// replace handles PUT /sandbox/dns.
func (d *DNS) replace(w http.ResponseWriter, r *http.Request) {
	var records dnsRecords
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDNSBody)).Decode(&records)
	if records.Name = dnsName(records.Name); err != nil || records.Name == "" || records.Values == nil {
		writeJSON(w, http.StatusUnprocessableEntity, problem{Message: "The body needs the fields name and values, a list of texts."})
		return
	}
	if err := d.put(r.Context(), records); err != nil {
		writeJSON(w, http.StatusInternalServerError, problem{Message: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": records})
}
