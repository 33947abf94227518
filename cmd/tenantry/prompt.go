package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/tenantry/tenantry/internal/settings"
)

// errInterrupted is the error of a question that a signal ended.
var errInterrupted = errors.New("interrupted")

// prompt asks a question on standard error and returns the line that was entered, without spaces
// around it. A secret is not shown if standard input is a terminal.
func prompt(ctx context.Context, p *process, text, fallback string, isSecret bool) (string, error) {
	if fallback != "" {
		text += " [" + fallback + "]"
	}
	if isSecret && term.IsTerminal(int(p.in.Fd())) {
		line, err := readHidden(ctx, p, text+": ")
		return strings.TrimSpace(line.Reveal()), err
	}
	_, _ = fmt.Fprint(p.err, text+": ")
	line, err := untilDone(ctx, func() (string, error) { return readLine(p.in) })
	if line = strings.TrimSpace(line); line == "" && err == nil {
		line = fallback
	}
	return line, err
}

// readHidden asks for a secret in a terminal and hides the input. The terminal shows input again
// afterwards, even if ctx ends first.
func readHidden(ctx context.Context, p *process, text string) (settings.Secret, error) {
	terminal := int(p.in.Fd())
	state, err := term.GetState(terminal)
	if err != nil {
		return "", fmt.Errorf("read the terminal: %w", err)
	}
	_, _ = fmt.Fprint(p.err, text)
	line, err := untilDone(ctx, func() (string, error) {
		line, err := term.ReadPassword(terminal)
		return string(line), err
	})
	_, _ = fmt.Fprintln(p.err)
	if errors.Is(err, errInterrupted) {
		err = errors.Join(err, term.Restore(terminal, state))
	}
	return settings.Secret(line), err
}

// untilDone returns the result of read, or errInterrupted if ctx ends first. read then continues
// until the process exits.
func untilDone(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		line string
		err  error
	}
	results := make(chan result, 1)
	go func() {
		line, err := read()
		results <- result{line, err}
	}()
	select {
	case r := <-results:
		return r.line, r.err
	case <-ctx.Done():
		return "", errInterrupted
	}
}

// readLine reads a line without reading beyond it, because readHidden reads from the same file. It
// returns an error at the end of the file.
func readLine(in io.Reader) (string, error) {
	var line []byte
	var one [1]byte
	for {
		n, err := in.Read(one[:])
		switch {
		case n == 1 && one[0] == '\n', errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case n == 1:
			line = append(line, one[0])
		case errors.Is(err, io.EOF):
			return "", errors.New("no answer: standard input ended")
		case err != nil:
			return "", err
		}
	}
}
