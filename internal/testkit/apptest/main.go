package apptest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// garbage is how much of it may be beside what is in use, in percent.
const garbage = 400

// Main runs the tests of a package, which calls it in its TestMain. Half of the time
// a test waits: for a database, a job, a notification. Therefore twice as many run at
// once as there are processors, unless the command says otherwise by -parallel. Garbage may
// grow to four times what is in use, unless GOGC is set: collecting it is a part of the time,
// above all under the race detector. At the end Main removes what the tests have shared.
func Main(m *testing.M) int {
	if hosting := os.Getenv(childVariable); hosting != "" {
		return serveAsChild(hosting)
	}
	if os.Getenv(instanceVariable) != "" {
		return serveInstance(os.Stdin, os.Stdout)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	seeds.all = map[seedKey]func(testing.TB) *seed{}
	defer seeds.scope.end()
	return m.Run()
}
