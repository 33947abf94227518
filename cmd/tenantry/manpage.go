package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Run writes the manual page: tenantry man > tenantry.1.
func (c *manCmd) Run(app *kong.Kong, p *process) error {
	_, err := p.out.Write(manPage(app.Model))
	return err
}

// manPage returns the manual page of all commands, with man(7) macros.
func manPage(app *kong.Application) []byte {
	var page bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&page, format+"\n", args...) }
	line(`.TH %s 1`, strings.ToUpper(app.Name))
	line(".SH NAME\n%s \\- self-hosted backend for multi-tenant subscription software", app.Name)
	line(".SH SYNOPSIS\n.B %s\n.I command\n[\\fIflags\\fR]", app.Name)
	line(".SH DESCRIPTION\n%s", escaped(app.Help))
	line(".SH COMMANDS")
	for _, command := range app.Leaves(true) {
		line(".SS %s", quoteArgument(command.FullPath()+argumentsOf(command)))
		line("%s", escaped(command.Help))
		for _, arg := range command.Positional {
			line(".TP\n.I %s\n%s", escaped(arg.Name), escaped(arg.Help))
		}
		for _, flag := range command.Flags {
			if flag.Hidden || flag.Name == "help" {
				continue
			}
			line(".TP\n.B %s", quoteArgument("--"+flag.Name+placeholderOf(flag)))
			line("%s", escaped(flag.Help))
			if len(flag.Envs) > 0 {
				line("In the environment: \\fB\\%%%s\\fR.", escaped(strings.Join(flag.Envs, ", ")))
			}
		}
	}
	line(".SH EXIT STATUS")
	for _, status := range [][2]string{
		{"0", "Success."},
		{"1", "A failure."},
		{"2", "Invalid arguments or settings."},
		{"130", "A second signal interrupted the shutdown."},
	} {
		line(".TP\n.B %s\n%s", status[0], status[1])
	}
	return page.Bytes()
}

func argumentsOf(command *kong.Node) string {
	var b strings.Builder
	for _, arg := range command.Positional {
		b.WriteString(" " + arg.Summary())
	}
	return b.String()
}

// placeholderOf returns the placeholder for the value of a flag.
func placeholderOf(flag *kong.Flag) string {
	if flag.IsBool() {
		return ""
	}
	return "=" + flag.FormatPlaceHolder()
}

// escaped escapes a text for troff.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}

// quoteArgument quotes a text as an argument of a macro.
func quoteArgument(text string) string {
	return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"`
}
