package creditnote_test

import (
	"os"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
