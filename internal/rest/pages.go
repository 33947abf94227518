package rest

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
)

// pageTimeout is how long a page of a file may take. A file as a whole may take longer than
// other answers.
const pageTimeout = 20 * time.Second

// Pages returns a file that is written while it is read, so that it takes the memory of one
// page however long it is. next writes the next page and reports whether there is another; it
// is called after the handler has returned, with a context that has the values of ctx.
func Pages(ctx context.Context, next func(ctx context.Context, page *bytes.Buffer) (more bool, err error)) io.ReadCloser {
	return &pages{ctx: context.WithoutCancel(ctx), next: next, more: true}
}

type pages struct {
	ctx  context.Context //nolint:containedctx // it is read after the handler has returned
	next func(ctx context.Context, page *bytes.Buffer) (more bool, err error)
	page bytes.Buffer
	more bool
}

// Read reads the next part of the file.
func (p *pages) Read(into []byte) (int, error) {
	for p.page.Len() == 0 && p.more {
		p.page.Reset()
		if err := p.turn(); err != nil {
			return 0, err
		}
	}
	if p.page.Len() == 0 {
		return 0, io.EOF
	}
	return p.page.Read(into)
}

// turn reads the next page. The caller's rights are checked again before it: a file can take long,
// and a caller who has lost the right to read it must not get the rest.
func (p *pages) turn() (err error) {
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	if err := authz.Recheck(ctx); err != nil {
		return err
	}
	p.more, err = p.next(ctx, &p.page)
	return err
}

// Close does nothing: nothing is open between two pages.
func (p *pages) Close() error { return nil }
