package safehttp

import (
	"net/netip"
	"testing"
)

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "172.15.255.255": true, "172.32.0.1": true, "100.63.255.255": true,
		"100.128.0.1": true, "192.0.1.1": true, "198.17.255.255": true, "198.20.0.1": true, "223.255.255.255": true,
		"2606:4700::1111": true, "2a00:1450::1": true, "::ffff:8.8.8.8": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "10.255.255.255": false, "100.64.0.1": false,
		"100.127.255.255": false, "127.0.0.1": false, "127.255.255.255": false, "169.254.169.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.0.0.8": false, "192.0.2.1": false, "192.88.99.1": false,
		"192.168.0.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.7": false, "203.0.113.9": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,

		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.1.2.3": false, "::ffff:169.254.169.254": false,
		"::ffff:100.64.0.1": false, "::127.0.0.1": false, "::8.8.8.8": false, "64:ff9b::7f00:1": false,
		"64:ff9b::808:808": false, "64:ff9b:1::1": false, "100::1": false, "2001::1": false, "2001:db8::1": false,
		"2002:7f00:1::": false, "2002:808:808::": false, "3fff::1": false, "5f00::1": false, "fc00::1": false,
		"fd12:3456::1": false, "fe80::1": false, "fe80::1%eth0": false, "2606:4700::1111%eth0": false, "fec0::1": false,
		"ff02::1": false, "ff0e::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public is %t", text, got)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestExemptions(t *testing.T) {
	t.Parallel()
	exempt := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	for address, ok := range map[string]bool{
		"10.1.2.3:80": true, "[::ffff:10.1.2.3]:80": true, "10.2.0.1:80": false, "127.0.0.1:80": false,
		"8.8.8.8:443": true, "example.com:80": false, "": false,
	} {
		if err := checkAddress(address, isPublic, exempt); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestCheckHost(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for host, want := range map[string]struct{ open, sandbox bool }{
		"example.com": {true, true}, "example.com.": {true, true}, "8.8.8.8": {true, true}, "2606:4700::1111": {true, true},
		"localhost": {false, true}, "Localhost.": {false, true}, "a.localhost": {false, true}, "127.0.0.1": {false, true}, "::1": {false, true},
		"10.0.0.1": {false, false}, "169.254.169.254": {false, false}, "fe80::1%eth0": {false, false}, "::ffff:10.0.0.1": {false, false},
		"2130706433": {false, false}, "0x7f000001": {false, false}, "127.1": {false, false}, "a.0x1": {false, false}, "": {false, false},
	} {
		if got := CheckHost(host, nil) == nil; got != want.open {
			t.Errorf("%q: %v", host, got)
		}
		if got := CheckHost(host, loopback) == nil; got != want.sandbox {
			t.Errorf("%q in the sandbox: %v", host, got)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	one, other := Redact("https://hooks.example.com:8443/T0/secret?token=x"), Redact("https://hooks.example.com:8443/T0/other")
	if want := "https://hooks.example.com:8443/#sha256-"; len(one) != len(want)+16 || one[:len(want)] != want || other[:len(want)] != want || one == other {
		t.Errorf("%s and %s", one, other)
	}
	if got := Redact("://secret"); len(got) != len("#sha256-")+16 {
		t.Errorf("invalid URL redacted as %s", got)
	}
}
