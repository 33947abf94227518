package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// model is what the model knows of the tables.
type model struct {
	names   []string
	columns map[string][]modelColumn
}

type modelColumn struct {
	name, kind      string
	notNull         bool
	parent, parent2 string // table and column that it refers to
}

func modelOf(t *testing.T, db *sqldb.DB) model {
	t.Helper()
	s := model{columns: map[string][]modelColumn{}}
	list := func(query string, each func(scan func(...any) error) error) {
		rows, err := db.Conn(t.Context()).QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := each(rows.Scan); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	list(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%' ORDER BY name`,
		func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			s.names = append(s.names, name)
			return err
		})
	for _, name := range s.names {
		list(`SELECT c.name, c.type, c."notnull", coalesce(f."table", ''), coalesce(f."to", '')
FROM pragma_table_info('`+name+`') c LEFT JOIN pragma_foreign_key_list('`+name+`') f ON f."from" = c.name GROUP BY c.cid ORDER BY c.cid`,
			func(scan func(...any) error) error {
				var c modelColumn
				err := scan(&c.name, &c.kind, &c.notNull, &c.parent, &c.parent2)
				s.columns[name] = append(s.columns[name], c)
				return err
			})
	}
	return s
}

// value writes a random value for a column; often one that another row refers to.
func (c modelColumn) value(r *rand.Rand) string {
	switch {
	case !c.notNull && r.IntN(3) == 0:
		return "NULL"
	case c.parent != "" && c.parent2 != "":
		return fmt.Sprintf("(SELECT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %d)", c.parent2, c.parent, c.parent2, r.IntN(2))
	case strings.HasPrefix(c.kind, "INT"), c.kind == "BOOLEAN", c.kind == "REAL":
		return fmt.Sprint(r.IntN(3))
	case c.kind == "TIMESTAMP":
		return fmt.Sprintf("'2026-01-0%d 00:00:00+00:00'", 1+r.IntN(3))
	default:
		return fmt.Sprintf("'v%d'", r.IntN(5))
	}
}

// write returns a random statement; many of them fail.
func (s model) write(r *rand.Rand) string {
	name := s.names[r.IntN(len(s.names))]
	columns := s.columns[name]
	one := columns[r.IntN(len(columns))]
	where := ""
	if r.IntN(4) > 0 {
		other := columns[r.IntN(len(columns))]
		where = " WHERE " + other.name + " IS " + other.value(r)
	}
	switch r.IntN(6) {
	case 0:
		return "DELETE FROM " + name + where
	case 1:
		return "UPDATE " + name + " SET " + one.name + " = " + one.value(r) + where
	}
	var names, values []string
	for _, c := range columns {
		names, values = append(names, c.name), append(values, c.value(r))
	}
	verb := []string{"INSERT INTO ", "INSERT OR REPLACE INTO ", "INSERT OR IGNORE INTO "}[r.IntN(3)]
	return verb + name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// query returns a random look-up, and which rows it depends on.
func (s model) query(r *rand.Rand) (string, []sqldb.Key) {
	if r.IntN(3) == 0 {
		column := map[string]string{"credentials": "token_hash", "api_keys": "secret_hash", "usage_streams": "tenant_id", "usage_counters": "tenant_id", "subscriptions": "tenant_id"}
		for name, by := range column {
			value := fmt.Sprintf("v%d", r.IntN(5))
			return fmt.Sprintf("SELECT * FROM %s WHERE %s = '%s'", name, by, value), []sqldb.Key{{Table: name, Value: value}}
		}
	}
	one, other := s.names[r.IntN(len(s.names))], s.names[r.IntN(len(s.names))]
	switch r.IntN(3) {
	case 0:
		return "SELECT * FROM " + one, nil
	case 1:
		return "SELECT (SELECT count(*) FROM " + one + "), EXISTS (SELECT 1 FROM " + other + ")", nil
	default:
		return "SELECT a.*, b.* FROM " + one + " a LEFT JOIN " + other + " b ON b." + s.columns[other][0].name + " = a." + s.columns[one][0].name, nil
	}
}

var errUndone = errors.New("undone")

// After each write that was answered, whatever it was, every look-up that is kept is what
// the database answers: random statements over all tables, with what triggers and foreign
// keys make of them, alone, in transactions that fail and do not, and by another database
// on the same file.
func TestKeptIsWhatIsThere(t *testing.T) {
	t.Parallel()
	for seed := range uint64(dbtest.Rounds(4, 40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, sqldb.SQLite)
			db, other := dbtest.Open(t, url), dbtest.Open(t, url)
			run := func(ctx context.Context, db *sqldb.DB, text string) error {
				_, err := db.Conn(ctx).ExecContext(ctx, text)
				return err
			}
			for _, text := range []string{
				`CREATE TRIGGER copy AFTER INSERT ON users BEGIN INSERT INTO wrong_passwords (email_hash, count, began_at, closed_until) VALUES (new.email, 1, new.created_at, new.created_at); END`,
				`CREATE TRIGGER forget AFTER DELETE ON users BEGIN DELETE FROM wrong_passwords WHERE email_hash = old.email; UPDATE tenants SET name = name || '!'; END`,
			} {
				if err := run(t.Context(), db, text); err != nil {
					t.Fatal(err)
				}
			}
			s := modelOf(t, db)
			r := rand.New(rand.NewPCG(seed, 1))
			l := &lookUps{db: db, kept: map[string]lookedUp{}}
			done, failed := 0, 0
			for range dbtest.Rounds(800, 4000) {
				for range 3 {
					query, keys := s.query(r)
					l.get(t, query, keys...)
				}
				var texts []string
				for range 1 + r.IntN(4) {
					texts = append(texts, s.write(r))
				}
				after := strings.Join(texts, "; ")
				on := db
				if r.IntN(8) == 0 {
					on, after = other, "elsewhere: "+after
				}
				var err error
				switch r.IntN(4) {
				case 0:
					err = run(t.Context(), on, texts[0])
				case 1: // each statement may fail by itself
					err = on.Tx(t.Context(), func(ctx context.Context) error {
						for _, text := range texts {
							if run(ctx, on, text) == nil {
								done++
							}
						}
						return nil
					})
				case 2:
					err = on.Tx(t.Context(), func(ctx context.Context) error {
						for _, text := range texts {
							_ = run(ctx, on, text)
						}
						return on.Tx(ctx, func(context.Context) error { return errUndone })
					})
				default:
					_, err = read(t.Context(), on, texts[0]+" RETURNING *")
				}
				if err != nil {
					failed++
				} else {
					done++
				}
				query, keys := s.query(r)
				l.check(t, after, query, keys...)
				n := 0
				for query := range l.kept {
					if n++; n > 5 {
						break
					}
					l.check(t, after, query)
				}
			}
			if l.hits < 500 || done < 100 || failed < 100 {
				t.Errorf("%d look-ups were kept, %d writes done, %d failed", l.hits, done, failed)
			}
		})
	}
}
