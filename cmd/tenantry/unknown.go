package main

import (
	"github.com/alecthomas/kong"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

// warnOfUnknown logs each variable that looks like a setting but is unknown. Otherwise a mistyped
// name would be ignored silently.
func warnOfUnknown(command *kong.Context, s settings.Settings, p *process) {
	log := commands.NewLog(p.err, s)
	for _, v := range settings.UnknownVariables(p.environ(), variables(command.Model)) {
		log.Warn("unknown environment variable ignored", "name", v.Name, "did_you_mean", v.Nearest)
	}
}

// variables returns the environment variables of all settings.
func variables(model *kong.Application) []string {
	var names []string
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, flag := range n.Flags {
			names = append(names, flag.Envs...)
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(model.Node)
	return names
}
