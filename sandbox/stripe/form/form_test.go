package form

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit     string
		quantity int64
		want     int64
	}{
		{"1000", 3, 3000},
		{"0.125", 3, 0},
		{"0.125", 4, 1}, // half rounds up
		{"0.125", 5, 1},
		{"99999999", 999999, 99999899000001},
		{"0.000000000001", 999999, 0},
	} {
		if got := Times(c.unit, c.quantity); got != c.want {
			t.Errorf("%d times %s is %d, want %d", c.quantity, c.unit, got, c.want)
		}
	}
	for shown, c := range map[string]struct {
		amount int64
		code   string
	}{
		"0.05 EUR":         {5, "eur"},
		"1,234,567.89 USD": {123456789, "usd"},
		"-12.00 USD":       {-1200, "usd"},
		"1,000 JPY":        {1000, "jpy"},
		"0.007 BHD":        {7, "bhd"},
		"10.00 ISK":        {1000, "isk"},
	} {
		if got := FormatAmount(c.amount, c.code); got != shown {
			t.Errorf("%d %s shows as %q, want %q", c.amount, c.code, got, shown)
		}
	}
	for shown, c := range map[string][2]string{
		"10.00 EUR":   {"1000", "eur"},
		"0.00125 EUR": {"0.125", "eur"},
		"12.5 JPY":    {"12.5", "jpy"},
	} {
		if got := FormatDecimal(c[0], c[1]); got != shown {
			t.Errorf("%v shows as %q, want %q", c, got, shown)
		}
	}
}

func TestFormsNest(t *testing.T) {
	t.Parallel()
	form, err := url.ParseQuery("a=1&a=2&b[c]=3&d[10][e]=x&d[9][e]=y&f[]=p&f[]=q")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(form)
	if err != nil {
		t.Fatal(err)
	}
	var a, c string
	p.Text("a", &a)
	p.Hash("b").Text("c", &c)
	var e []string
	for _, element := range p.List("d") {
		var text string
		element.Text("e", &text)
		e = append(e, element.path+"="+text)
	}
	got := []any{a, c, e, p.Texts("f")}
	want := []any{"2", "3", []string{"d[9]=y", "d[10]=x"}, []string{"p", "q"}}
	if diff := cmp.Diff(want, got); diff != "" || p.CheckUnread() != nil {
		t.Errorf("%v (-want +got):\n%s", p.CheckUnread(), diff)
	}
}

func FuzzParseForm(f *testing.F) {
	for _, seed := range []string{"a=1", "a[b][0][c]=x", "a[]=1&a[]=2", "a[=1", "a]b=1", "a[b]c=1", "[a]=1", "a=1&a[b]=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, body string) {
		form, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		p, err := Parse(form)
		if err != nil {
			return
		}
		for _, key := range p.node.keys { // reading accepted keys must not panic
			p.List(key)
			p.Texts(key)
			p.Metadata(&map[string]string{})
		}
		_ = p.CheckUnread()
	})
}
