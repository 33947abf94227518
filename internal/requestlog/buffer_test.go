package requestlog

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// made returns a request of a tenant that was answered some milliseconds after noon.
func made(tenant uuid.UUID, status, milliseconds int) entry {
	return entry{tenant: tenant, status: status, at: noon.Add(time.Duration(milliseconds) * time.Millisecond)}
}

// counter counts dropped requests.
func newBuffer() (*buffer, *int) {
	n := new(int)
	return &buffer{dropped: func(more int) { *n += more }}, n
}

// stored returns the requests and gaps of all seconds, and counts the requests by status.
func (b *buffer) stored() (n map[int]int, gaps map[uuid.UUID]gap) {
	entries, list := contents(b.take(1 << 60))
	n, gaps = map[int]int{}, map[uuid.UUID]gap{}
	for _, e := range entries {
		n[e.status]++
	}
	for _, g := range list {
		gaps[g.tenant] = g
	}
	return n, gaps
}

// At most 50 requests of a tenant are stored per second. Failed requests replace successful ones.
func TestLimitOfTenant(t *testing.T) {
	t.Parallel()
	one := uuid.New()
	for name, tt := range map[string]struct {
		statuses   []int // the number of requests with 200, then with 500, then with 200
		ok, failed int
		began, end int // of the gap, in requests
	}{
		"below the limit": {[]int{40, 10, 0}, 40, 10, -1, -1},
		"above it":        {[]int{60, 0, 0}, 50, 0, 50, 59},
		"failed ones":     {[]int{50, 20, 0}, 30, 20, 30, 49},
		"only failed":     {[]int{0, 60, 0}, 0, 50, 50, 59},
		"failed first":    {[]int{0, 50, 10}, 0, 50, 50, 59},
		"mixed":           {[]int{45, 10, 5}, 40, 10, 40, 59},
	} {
		b, dropped := newBuffer()
		at := 0
		for i, n := range tt.statuses {
			for range n {
				b.add(1, made(one, []int{200, 500, 200}[i], at), func(*entry) {})
				at++
			}
		}
		n, gaps := b.stored()
		if n[200] != tt.ok || n[500] != tt.failed || *dropped != at-tt.ok-tt.failed {
			t.Errorf("%s: %v, %d dropped", name, n, *dropped)
		}
		g, found := gaps[one]
		if found != (tt.began >= 0) || found && (g.began != made(one, 0, tt.began).at || g.ended != made(one, 0, tt.end).at) {
			t.Errorf("%s: %v", name, gaps)
		}
	}
}

// At most 500 requests are stored per second. Requests without a tenant have only this limit.
func TestLimitOfProcess(t *testing.T) {
	t.Parallel()
	b, dropped := newBuffer()
	for i := range 600 {
		b.add(1, made(uuid.Nil, 200, i), func(*entry) {})
	}
	late := uuid.New()
	for i := range 60 {
		b.add(1, made(late, 404, 600+i), func(*entry) {})
	}
	n, gaps := b.stored()
	if n[200] != 450 || n[404] != 50 || *dropped != 160 || len(gaps) != 2 {
		t.Errorf("%v, %d dropped, %v", n, *dropped, gaps)
	}
	for i := range 700 {
		b.add(2, made(uuid.Nil, 500, i), func(*entry) {})
	}
	b.add(2, made(late, 500, 701), func(*entry) {})
	if n, gaps := b.stored(); n[500] != 500 || len(gaps) != 2 {
		t.Errorf("%v, %v", n, gaps)
	}
}

// Each second has its own limits, even if its requests come late.
func TestSeconds(t *testing.T) {
	t.Parallel()
	one := uuid.New()
	b, _ := newBuffer()
	for i := range 40 {
		b.add(7, made(one, 200, i), func(*entry) {})
		b.add(6, made(one, 200, i), func(*entry) {}) // the clock went back
		b.add(8, made(one, 200, i), func(*entry) {})
	}
	entries, gaps := contents(b.take(8))
	if len(entries) != 2 || len(gaps) != 0 {
		t.Errorf("%d requests, %v", len(entries), gaps)
	}
	if n, gaps := b.stored(); n[200] != 50 || len(gaps) != 1 {
		t.Errorf("%v, %v", n, gaps)
	}
}

// Requests that cannot be stored become gaps. The number of waiting requests and gaps is bounded.
func TestWaitingIsBounded(t *testing.T) {
	t.Parallel()
	b, dropped := newBuffer()
	one := uuid.New()
	for i := range 30 {
		b.add(int64(i), made(one, 200, i), func(*entry) {})
	}
	taken := b.take(1 << 60)
	entries, gaps := contents(taken)
	if len(entries) != maxFull || len(gaps) != 30-maxFull || *dropped != 30-maxFull {
		t.Errorf("%d requests, %d gaps, %d dropped", len(entries), len(gaps), *dropped)
	}
	b.putBack(taken)
	entries, gaps = contents(b.take(1 << 60))
	if len(entries) != 0 || len(gaps) != 30 || *dropped != 30 || !gaps[29].began.Equal(made(one, 0, 29).at) {
		t.Errorf("%d requests, %d gaps, %d dropped", len(entries), len(gaps), *dropped)
	}
	for i := range 2 * maxClosed {
		b.add(int64(i), made(one, 200, i), func(*entry) {})
	}
	if taken := b.take(1 << 60); len(taken) != maxClosed {
		t.Errorf("%d seconds wait", len(taken))
	}
}

// The gaps of very many tenants become one gap of all tenants.
func TestManyGaps(t *testing.T) {
	t.Parallel()
	b, _ := newBuffer()
	for i := range 500 {
		b.add(1, made(uuid.Nil, 500, i), func(*entry) {})
	}
	for i := range 600 {
		b.add(1, made(uuid.New(), 200, 600-i), func(*entry) {})
	}
	if n, gaps := b.stored(); n[500] != 500 || len(gaps) != 1 || gaps[everyTenant].began != made(uuid.Nil, 0, 1).at || gaps[everyTenant].ended != made(uuid.Nil, 0, 600).at {
		t.Errorf("%v, %v", n, gaps)
	}
}

func TestReadPath(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0197a2f4-6c1b-7d20-9e55-3b8f70aac41e")
	for name, tt := range map[string]struct {
		route, path, want string
		tenant            uuid.UUID
	}{
		"plain":             {"/api/v1/auth/me", "/api/v1/auth/me", "/api/v1/auth/me", uuid.Nil},
		"an invitation":     {"/api/v1/invitations/{token}/accept", "/api/v1/invitations/secret/accept", "/api/v1/invitations/{token}/accept", uuid.Nil},
		"an escaped slash":  {"/api/v1/invitations/{token}", "/api/v1/invitations/se%2Fcret", "/api/v1/invitations/{token}", uuid.Nil},
		"an admin's path":   {"/api/v1/admin/tenants/{tenant}/credit", "/api/v1/admin/tenants/" + id.String() + "/credit", "/api/v1/admin/tenants/" + id.String() + "/credit", id},
		"an invalid tenant": {"/api/v1/admin/tenants/{tenant}", "/api/v1/admin/tenants/x", "/api/v1/admin/tenants/x", uuid.Nil},
	} {
		if got, tenant := readPath(tt.route, tt.path), tenantInPath(tt.route, tt.path); got != tt.want || tenant != tt.tenant {
			t.Errorf("%s: %s, %s", name, got, tenant)
		}
	}
	long := make([]byte, 2*maxPath)
	if got := readPath("/{x}", string(long)); len(got) != maxPath {
		t.Errorf("%d bytes", len(got))
	}
}

func TestIsOfAccount(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/api/v1/auth/me": true, "/api/v1/user": true, "/api/v1/user/sessions/x": true,
		"/api/v1/users": false, "/api/v1/tenant/x/usage": false, "/api/v1/tenant/user": false, "/api/v1/": false,
	} {
		if got := isOfAccount(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

func TestCursor(t *testing.T) {
	t.Parallel()
	c := cursor{noon, 12}
	if got, err := parseCursor(c.encode()); err != nil || got != c {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseCursor(""); err != nil || got != newest {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"x", "!", c.encode() + "=", "MS4y" + "Ljc", "LjE", "MS4", "MDEuMQ", "OTIyMzM3MjAzNjg1NDc3NTgwNy4x"} {
		if got, err := parseCursor(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
