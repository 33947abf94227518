package blackbox_test

import (
	"os"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
