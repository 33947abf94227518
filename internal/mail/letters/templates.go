package letters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/i18n"
)

// Templates are the operator's mail templates, read from a folder (rules: mail#templates). A nil
// Templates is empty.
type Templates struct{ own map[templateKey]forms }

// templateKey identifies a mail in one language.
type templateKey struct{ locale, mail string }

// templatesOf returns the templates of a mail.
func (t *Templates) templatesOf(locale, mail string) forms {
	if t == nil {
		return forms{}
	}
	return t.own[templateKey{locale, mail}]
}

// maxTemplate is the maximum size of a template file in bytes.
const maxTemplate = 256 << 10

// ReadTemplates reads the files {locale}/{mail}.html, .txt and .subject of a folder. It returns all
// errors, each with its path: unknown mails and locales, and templates that cannot be parsed or
// that fail with sample data. It ignores names that begin with a dot, which file systems and tools
// create.
func ReadTemplates(dir string, b brand.Brand) (*Templates, []error) {
	l, err := New(Config{FrontendURL: "https://app.example.com", PublicURL: "https://api.example.com", Brand: b})
	if err != nil {
		return nil, []error{err}
	}
	folders, err := visibleNames(dir)
	if err != nil {
		return nil, []error{err}
	}
	all := &Templates{own: map[templateKey]forms{}}
	var wrong []error
	for _, locale := range folders {
		folder := filepath.Join(dir, locale)
		if !slices.Contains(i18n.Locales(), locale) {
			wrong = append(wrong, fmt.Errorf("%s: unknown locale %q; supported locales: %s", folder, locale, strings.Join(i18n.Locales(), ", ")))
			continue
		}
		files, err := visibleNames(folder)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, file := range files {
			if err := all.add(l, filepath.Join(folder, file), locale, file); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	return all, wrong
}

// visibleNames returns the names in a folder that do not begin with a dot.
func visibleNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// add reads one file and tests it with sample data.
func (t *Templates) add(l *Letters, path, locale, file string) error {
	extension := filepath.Ext(file)
	at := templateKey{locale, strings.TrimSuffix(file, extension)}
	of := t.own[at]
	form, ok := map[string]**template{".html": &of.html, ".txt": &of.text, ".subject": &of.subject}[extension]
	if !ok {
		return fmt.Errorf("%s: does not end in .html, .txt or .subject", path)
	}
	if err := CheckName(at.mail); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	content, err := readTemplate(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	parsed, err := parse(path, file, content)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	*form = parsed
	t.own[at] = of
	// Test the file alone, so that the error of another file is not reported twice.
	var alone forms
	switch extension {
	case ".html":
		alone.html = parsed
	case ".txt":
		alone.text = parsed
	default:
		alone.subject = parsed
	}
	l.config.Templates = &Templates{own: map[templateKey]forms{at: alone}}
	for _, sparse := range []bool{false, true} {
		if _, err := l.sample(context.Background(), at.mail, locale, sparse); err != nil {
			return err
		}
	}
	return nil
}

func readTemplate(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("is not a file")
	case info.Size() > maxTemplate:
		return "", fmt.Errorf("is larger than %d KiB", maxTemplate>>10)
	}
	content, err := os.ReadFile(path)
	if err == nil && !utf8.Valid(content) {
		err = errors.New("is not UTF-8")
	}
	return strings.TrimPrefix(string(content), "\ufeff"), err
}
