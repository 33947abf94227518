package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type mailCmd struct {
	List    mailListCmd    `cmd:"" help:"List the emails that the service sends: name, purpose, and template variables in addition to the common ones."`
	Preview mailPreviewCmd `cmd:"" help:"Print an email with sample data, using the branding and templates from the settings. Does not send it."`
}

type mailListCmd struct {
	JSON bool `name:"json" help:"Output JSON: {mails: [{name, about, variables: [{name, about, in_subject}]}], common: [{name, about, in_subject}]}."`
}

// Run lists the mails.
func (c *mailListCmd) Run(p *process) error { return commands.ListMails(p.out, c.JSON) }

type mailPreviewCmd struct {
	settings.MailFlags `embed:""`

	Name   string `arg:"" help:"Name of the email. See tenantry mail list."`
	Locale string `placeholder:"LOCALE" default:"en" help:"Language of the email: en, fr, es or it. Default: en."`
	Format string `placeholder:"FORMAT" default:"html" help:"Output format: html, text or subject. Default: html."`
}

// Run writes a mail with sample data.
func (c *mailPreviewCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings()
	if err != nil {
		return err
	}
	return commands.PreviewMail(ctx, s, commands.MailPreview{Name: c.Name, Locale: c.Locale, Format: c.Format}, p.out)
}
