package limit

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxPerMinute is the maximum value of a group's limit.
const MaxPerMinute = 1_000_000_000

// ParseSetting parses the rate limit setting. "on" or "" means the defaults, "off" disables all
// groups, and "login=5,default=1200" overrides the named groups, where 0 disables a group. The
// error names the invalid part.
func ParseSetting(text string) (map[string]int, error) {
	groups := Defaults()
	switch strings.TrimSpace(text) {
	case "", "on":
		return groups, nil
	case "off":
		for group := range groups {
			groups[group] = 0
		}
		return groups, nil
	}
	seen := make(map[string]bool)
	for part := range strings.SplitSeq(text, ",") {
		group, figure, found := strings.Cut(strings.TrimSpace(part), "=")
		group, figure = strings.TrimSpace(group), strings.TrimSpace(figure)
		switch {
		case !found:
			return nil, fmt.Errorf("%q is not on, off or group=number", strings.TrimSpace(part))
		case !IsGroup(group):
			return nil, fmt.Errorf("unknown group %q; groups: %s", group, strings.Join(slices.Sorted(maps.Keys(perMinute)), ", "))
		case seen[group]:
			return nil, fmt.Errorf("group %q appears twice", group)
		}
		seen[group] = true
		n, err := strconv.Atoi(figure)
		if err != nil || n < 0 || n > MaxPerMinute {
			return nil, fmt.Errorf("%q of group %q is not a number from 0 to %d", figure, group, MaxPerMinute)
		}
		groups[group] = n
	}
	return groups, nil
}
