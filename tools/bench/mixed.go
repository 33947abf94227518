//go:build linux

package main

import (
	"net/http"

	"github.com/tenantry/tenantry/tools/bench/load"
)

// The background work during the reads of a mixed load, in requests per second: recording usage for
// all tenants, and logins. The bare server does the minimum of the same work.
const (
	backgroundRecords = 1_000
	backgroundLogins  = 5
)

// bareRecord is the bare server's route for recording usage.
const bareRecord = "POST /decode/record"

// mixedScenarios returns the reads with concurrent background work. They have no target rates.
func mixedScenarios(reads []scenario) []scenario {
	var all []scenario
	for _, sc := range reads {
		sc.name, sc.conns, sc.mixed, sc.rates = "mixed "+sc.name, []int{16, 64}, true, nil
		all = append(all, sc)
	}
	return all
}

// backgroundWork returns the background work.
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

// bareBackgroundWork returns the background work for the bare server.
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
