package letters

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// Clean exposes sanitizeLine.
func Clean(text string, limit int) string { return sanitizeLine(text, limit) }

// Unlinked exposes breakLinks.
func Unlinked(text string) string { return breakLinks(text) }

var variable = regexp.MustCompile(`\{\w+\}`)

// Variables maps each text of a locale to the variables in it. An empty text has "empty" instead.
func (l *Letters) Variables(locale string) map[string][]string {
	in := l.locale(locale)
	all := map[string][]string{}
	collect(all, "", reflect.ValueOf(*in))
	return all
}

func collect(all map[string][]string, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		found := []string{"empty"}
		if v.String() != "" {
			found = slices.Sorted(maps.Keys(set(variable.FindAllString(v.String(), -1))))
		}
		all[path] = found
	case reflect.Slice:
		for i := range v.Len() {
			collect(all, path+"."+strconv.Itoa(i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collect(all, path+"."+key.String(), v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.Tag.Get("json") != "" {
				collect(all, path+"."+field.Name, v.Field(i))
			}
		}
	}
}

func set(list []string) map[string]bool {
	s := map[string]bool{}
	for _, v := range list {
		s[v] = true
	}
	return s
}
