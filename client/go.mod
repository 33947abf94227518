module github.com/tenantry/tenantry/client

go 1.26.0

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
)
