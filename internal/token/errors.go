package token

import "github.com/tenantry/tenantry/internal/fault"

var errTenant = fault.OnField("tenant_id", "validation.exists")
