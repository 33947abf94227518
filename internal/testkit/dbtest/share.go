package dbtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

// folderVariable is the environment variable with the folder of the shared SQLite template.
const folderVariable = "TENANTRY_TEST_FOLDER"

// Share runs a command such as `go test ./...` whose processes share one PostgreSQL server and one
// migrated database of each kind. If PostgreSQL is not installed or a server is already shared, it
// only runs the command.
func Share(ctx context.Context, command []string) (err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, os.Environ()
	if _, err := findPrograms(); err != nil || os.Getenv(urlVariable) != "" {
		return cmd.Run()
	}
	folder, err := os.MkdirTemp("", "tenantry-shared-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	address, leash, err := startServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leash.Close()) }()
	cmd.Env = append(cmd.Env, urlVariable+"="+address, folderVariable+"="+folder)
	return cmd.Run()
}
