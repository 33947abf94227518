package letters

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// Clean and Unlinked show what becomes of a text that somebody has typed.
func Clean(text string, limit int) string { return sanitizeLine(text, limit) }

// Unlinked is that text in the body of a mail.
func Unlinked(text string) string { return breakLinks(text) }

var variable = regexp.MustCompile(`\{\w+\}`)

// Variables has, of every text of a locale, the variables in it. A text that is
// empty has "empty" instead.
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
