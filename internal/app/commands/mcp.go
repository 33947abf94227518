package commands

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/mcp"
	"github.com/tenantry/tenantry/internal/settings"
)

// ServeMCP lets an assistant ask a running service over standard input and output, until
// ctx or the input ends.
func ServeMCP(ctx context.Context, s settings.MCP, version string) error {
	return mcp.Serve(ctx, mcp.Config{URL: s.URL, Key: s.Key.Reveal(), AllowWrites: s.AllowWrites, Version: version})
}
