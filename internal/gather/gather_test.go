package gather

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// numbers finds the numbers that texts are, plus one that the database adds. before is called
// with the keys when a look-up begins.
func numbers(db *sqldb.DB, line *Line, add int, before func(keys []string)) *Kept[string, int] {
	return Keep(KeptConfig[string, int]{
		DB: db, Line: line, Size: func(string, int) int { return 8 },
		Find: func(keys []string) ([]sqldb.Query, func(context.Context) (map[string]int, error)) {
			before(keys)
			var plus int
			query := sqldb.Query{
				Doing: "add", Text: `SELECT $1::bigint`, Args: []any{add},
				Row: func(scan func(...any) error) error { return scan(&plus) },
			}
			return []sqldb.Query{query}, func(context.Context) (map[string]int, error) {
				values := map[string]int{}
				for _, key := range keys {
					if n, err := strconv.Atoi(key); err == nil {
						values[key] = n + plus
					}
				}
				return values, nil
			}
		},
	})
}

// Questions of two kinds that come while a trip is under way share the next one, and each
// gets its own answer.
func TestLine(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		line := &Line{db: db, most: 1}
		entered, resume := make(chan struct{}), make(chan struct{})
		var sizes []int
		as := numbers(db, line, 0, func(keys []string) {
			entered <- struct{}{}
			<-resume
			sizes = append(sizes, len(keys))
		})
		bs := numbers(db, line, 100, func(keys []string) { sizes = append(sizes, len(keys)) })
		var wg sync.WaitGroup
		ask := func(kept *Kept[string, int], key string, want int, known bool) {
			wg.Go(func() {
				if got, found, err := kept.Get(t.Context(), key); got != want || found != known || err != nil {
					t.Errorf("%s: %d, %t, %v", key, got, found, err)
				}
			})
		}
		ask(as, "1", 1, true)
		<-entered
		for i := range 20 {
			ask(as, strconv.Itoa(i%10), i%10, true)
		}
		for i := range 30 {
			ask(bs, strconv.Itoa(i), 100+i, true)
		}
		ask(as, "nobody", 0, false)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := as.Get(gone, "5"); !errors.Is(err, context.Canceled) {
			t.Errorf("gone: %v", err)
		}
		for as, bs := as, bs; ; { // the one who is gone is still in the list
			line.mu.Lock()
			all := len(as.waiting) + len(bs.waiting)
			line.mu.Unlock()
			if all == 52 {
				break
			}
		}
		resume <- struct{}{}
		<-entered
		resume <- struct{}{}
		wg.Wait()
		slices.Sort(sizes)
		if !slices.Equal(sizes, []int{1, 22, 30}) {
			t.Errorf("look-ups of %v", sizes)
		}
	})
}

// What is asked ahead goes with the next look-up and no sooner, for the first Get of it. Where
// something is kept it is not asked.
func TestAhead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		line := NewLine(db)
		var mu sync.Mutex
		asked := map[string]int{}
		count := func(kind string) func(keys []string) {
			return func(keys []string) {
				mu.Lock()
				defer mu.Unlock()
				for _, key := range keys {
					asked[kind+key]++
				}
			}
		}
		callers, answers := numbers(db, line, 0, count("caller ")), numbers(db, line, 100, count("answer "))
		get := func(ctx context.Context, kept *Kept[string, int], key string, want int) {
			t.Helper()
			if got, found, err := kept.Get(ctx, key); got != want || !found || err != nil {
				t.Errorf("%s: %d, %t, %v", key, got, found, err)
			}
		}
		want := func(key string, postgres, sqlite int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if n := map[sqldb.Dialect]int{sqldb.Postgres: postgres, sqldb.SQLite: sqlite}[db.Dialect()]; asked[key] != n {
				t.Errorf("%s was asked %d times, want %d", key, asked[key], n)
			}
		}
		ctx := answers.Ahead(t.Context(), "2")
		want("answer 2", 0, 0)
		get(ctx, callers, "1", 1)
		want("answer 2", 1, 0)
		get(ctx, answers, "3", 103)
		get(ctx, answers, "2", 102)
		want("answer 2", 1, 1)
		want("answer 3", 1, 1)
		if db.Dialect() == sqldb.Postgres {
			get(ctx, answers, "2", 102) // a second Get may follow a change
			want("answer 2", 2, 0)
		}
		get(answers.Ahead(t.Context(), "4"), answers, "4", 104) // with no other look-up
		want("answer 4", 1, 1)
		alone := numbers(db, nil, 0, count("alone "))
		get(alone.Ahead(t.Context(), "5"), alone, "5", 5)
		want("alone 5", 1, 1)
		err := db.Tx(answers.Ahead(t.Context(), "6"), func(ctx context.Context) error {
			get(ctx, answers, "6", 106) // as the transaction sees it
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		want("answer 6", 1, 1)
	})
}

// What goes wrong is told to all who asked, and the next question is looked up.
func TestLineFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		errDown := errors.New("down")
		k := Keep(KeptConfig[string, int]{
			DB: db, Line: NewLine(db), Size: func(string, int) int { return 8 },
			Find: func(keys []string) ([]sqldb.Query, func(context.Context) (map[string]int, error)) {
				if keys[0] == "panic" {
					panic("lost")
				}
				query := sqldb.Query{Doing: "fail", Text: `SELECT 1 FROM nothing`}
				if keys[0] != "query" {
					query = sqldb.Query{Doing: "read", Text: `SELECT 1`, Row: func(func(...any) error) error { return nil }}
				}
				return []sqldb.Query{query}, func(context.Context) (map[string]int, error) {
					if keys[0] == "panic later" {
						panic("lost")
					}
					return nil, errDown
				}
			},
		})
		for _, key := range []string{"panic", "panic later", "query"} {
			if _, _, err := k.Get(t.Context(), key); err == nil {
				t.Errorf("%s is no error", key)
			}
		}
		if _, _, err := k.Get(t.Context(), "a"); !errors.Is(err, errDown) {
			t.Errorf("got %v", err)
		}
	})
}
