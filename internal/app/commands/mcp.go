package commands

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/mcp"
	"github.com/tenantry/tenantry/internal/settings"
)

// ServeMCP serves an AI assistant over standard input and output, until ctx or the input ends. The
// data comes from a running service.
func ServeMCP(ctx context.Context, s settings.MCP, version string) error {
	return mcp.Serve(ctx, mcp.Config{URL: s.URL, Key: s.Key.Reveal(), AllowWrites: s.AllowWrites, Version: version})
}
