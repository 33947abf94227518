package settings

import (
	"github.com/tenantry/tenantry/internal/datadir"
	"github.com/tenantry/tenantry/internal/secrets"
)

// KeepPrivate restricts access to the data folder and its databases to the user of the process.
func (s Settings) KeepPrivate() error {
	return datadir.Folder(s.Data, DatabaseFile, DatabaseFile+"-wal", DatabaseFile+"-shm", SandboxFile, SandboxFile+"-wal", SandboxFile+"-shm", secrets.FileName)
}
