package apptest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// garbage is the GC percentage in tests: the allowed garbage relative to the live heap.
const garbage = 400

// Main runs the tests of a package. Its TestMain must call it. Tests spend half of the time waiting
// for a database, a job or a notification, so twice as many tests run in parallel as there are
// processors, unless -parallel is set. The heap can grow to five times the live heap unless GOGC is
// set, because garbage collection takes a large part of the time, especially with the race
// detector. At the end, Main removes the resources that the tests share.
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
