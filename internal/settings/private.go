package settings

import "github.com/tenantry/tenantry/internal/datadir"

// KeepPrivate keeps other users of the machine from the data folder and the databases in it.
func (s Settings) KeepPrivate() error {
	return datadir.Folder(s.Data, DatabaseFile, DatabaseFile+"-wal", DatabaseFile+"-shm", SandboxFile, SandboxFile+"-wal", SandboxFile+"-shm")
}
