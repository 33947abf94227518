//go:build linux

package main

import (
	"net/http"

	"github.com/tenantry/tenantry/tools/bench/load"
)

// What goes on beside the reads of a mixed load, in requests a second: usage of all tenants
// is recorded, and users log in. The bare server does the least of the same.
const (
	backgroundRecords = 1_000
	backgroundLogins  = 5
)

// bareRecord is the bare route for a recording.
const bareRecord = "POST /decode/record"

// mixedScenarios returns reads again, while others write. Nothing is promised of them.
func mixedScenarios(reads []scenario) []scenario {
	var all []scenario
	for _, sc := range reads {
		sc.name, sc.conns, sc.mixed, sc.rates = "mixed "+sc.name, []int{16, 64}, true, nil
		all = append(all, sc)
	}
	return all
}

// backgroundWork returns what others do.
func backgroundWork(w *world) []load.Work {
	records := load.Work{Rate: backgroundRecords, Want: http.StatusCreated}
	for _, u := range w.users {
		records.Callers = append(records.Callers, numberedCaller(recordOne(u), w.nextSeries()))
	}
	logins := load.Work{Rate: backgroundLogins, Want: http.StatusOK}
	for _, u := range w.users[:backgroundLogins] {
		logins.Callers = append(logins.Callers, repeatingCaller(login(u)))
	}
	return []load.Work{records, logins}
}

// bareBackgroundWork is beside for the bare server.
func bareBackgroundWork(w *world) []load.Work {
	works := backgroundWork(w)
	for i, u := range w.users {
		like := recordOne(u)
		like.path = "/decode/record"
		works[0].Callers[i] = numberedCaller(like, w.nextSeries())
	}
	for i := range works[1].Callers {
		works[1].Callers[i] = repeatingCaller(request{method: http.MethodPost, path: "/argon2id"})
	}
	return works
}
