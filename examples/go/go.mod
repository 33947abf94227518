module example.com/shop

go 1.26.0

require (
	github.com/oapi-codegen/nullable v1.1.0
	github.com/tenantry/tenantry/client v0.1.0
)

// Your own product has no such line: go get github.com/tenantry/tenantry/client
replace github.com/tenantry/tenantry/client => ../../client
