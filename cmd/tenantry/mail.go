package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type mailCmd struct {
	List    mailListCmd    `cmd:"" help:"List the mails that the service sends: name, what it is for, and the variables that templates of it have beside those of all mails."`
	Preview mailPreviewCmd `cmd:"" help:"Write a mail with sample data, with the brand and the templates of the settings. Nothing is sent."`
}

type mailListCmd struct {
	JSON bool `name:"json" help:"Write an object in place of text: {mails: [{name, about, variables: [{name, about, in_subject}]}], common: [{name, about, in_subject}]}."`
}

// Run lists the mails.
func (c *mailListCmd) Run(p *process) error { return commands.ListMails(p.out, c.JSON) }

type mailPreviewCmd struct {
	settings.MailFlags `embed:""`

	Name   string `arg:"" help:"Name of the mail; see tenantry mail list."`
	Locale string `placeholder:"LOCALE" default:"en" help:"Language of the mail: en, fr, es or it. Default: en."`
	Format string `placeholder:"FORMAT" default:"html" help:"What to write: html, text or subject. Default: html."`
}

// Run writes a mail with sample data.
func (c *mailPreviewCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings()
	if err != nil {
		return err
	}
	return commands.PreviewMail(ctx, s, commands.MailPreview{Name: c.Name, Locale: c.Locale, Format: c.Format}, p.out)
}
