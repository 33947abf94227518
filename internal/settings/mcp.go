package settings

import (
	"errors"
	"net/url"
)

// MCPFlags are the flags of the MCP server.
type MCPFlags struct {
	URL         string `name:"url" env:"TENANTRY_MCP_URL" placeholder:"URL" help:"URL of the running service. Default: http://127.0.0.1:8080."`
	KeyFile     string `name:"key-file" env:"TENANTRY_MCP_KEY_FILE" placeholder:"FILE" help:"File that contains an API key. Or set TENANTRY_MCP_KEY to the key. Its scopes limit the data that the assistant can read."`
	AllowWrites bool   `name:"allow-writes" env:"TENANTRY_MCP_ALLOW_WRITES" help:"Offer tools that change data, such as recording usage. Default: read-only tools."`
}

// MCP holds the settings of the MCP server.
type MCP struct {
	URL         *url.URL // of the service that it calls
	Key         Secret   // an API key of that service
	AllowWrites bool
}

// Settings validates the flags and reads the key from the environment or its file.
func (f MCPFlags) Settings(getenv func(string) string) (MCP, error) {
	p := parser{getenv: getenv, command: "mcp"}
	s := MCP{AllowWrites: f.AllowWrites, Key: p.requiredSecret("TENANTRY_MCP_KEY", f.KeyFile)}
	if s.URL = p.webURL("TENANTRY_MCP_URL", f.URL); s.URL == nil {
		s.URL = &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}
	}
	return s, errors.Join(p.errs...)
}
