// Command house prints the size of the project's packages, files and functions. It fails if one
// exceeds its limit. Run it in the root of the repository.
package main

import (
	"fmt"
	"os"

	"github.com/tenantry/tenantry/internal/arch"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	sources, err := arch.Sources(".")
	if err != nil {
		return err
	}
	house := arch.Measure(sources)
	if err := house.Print(os.Stdout); err != nil {
		return err
	}
	broken := house.Violations()
	for _, what := range broken {
		fmt.Fprintln(os.Stderr, what)
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d of the house's ceilings are broken", len(broken))
	}
	return nil
}
