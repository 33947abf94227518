package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(program{m}, map[string]func(){"tenantry": main, watched: main, "stubborn": stubborn})
}

// watched is the command that runs the test binary as the program, with the race detector if the
// tests have it.
const watched = "tenantry-watched"

// The scripts in testdata define the output and the exit codes of the commands.
func TestCommands(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("COLUMNS", "200") // the width that help is wrapped to
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits runs a command and checks its exit code. Example: exits 2 tenantry dev --bad.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [argument...]")
	}
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = strconv.Itoa(exit.ExitCode())
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// stubborn prints a line on the first signal but continues to run.
func stubborn() {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	fmt.Println("running")
	<-ctx.Done()
	fmt.Println("asked to stop")
	select {}
}

func TestASecondSignalEndsTheProcess(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Args[0] = "stubborn" // testscript runs the command with this name
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for _, want := range []string{"running", "asked to stop"} {
			if !lines.Scan() || lines.Text() != want {
				t.Fatalf("%v: %q, want %q", signal, lines.Text(), want)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%v: %v, want exit code %d", signal, err, exitInterrupted)
		}
	}
}
