SQLC          := github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   := golang.org/x/vuln/cmd/govulncheck@v1.8.0
OASDIFF       := github.com/oasdiff/oasdiff@v1.18.5
OAPI_CODEGEN  := github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
OGEN          := github.com/ogen-go/ogen/cmd/ogen@v1.25.0
DEADCODE      := golang.org/x/tools/cmd/deadcode@v0.52.0

# The modules next to the service's, so that importing one only adds its own dependencies.
MODULES       := client tenantrytest examples/go tools/image

# What only tests call, on purpose: packages of test helpers, the clock that tests set, more
# instances on one sandbox, the statements whose plans tests check, the plural forms of a language,
# and methods that JSON decoding finds by reflection.
ONLY_TESTS    := second_instance\.go.* SecondInstance$$$$|test(kit)?/[a-z_]+\.go|clock\.go.* (NewFixed|Fixed\.)|DB\.Statements$$|: Categories$$|: (Item|Opt)\.UnmarshalJSON$$

SHELL         := /bin/bash

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: dev
dev: ## Run the service with its sandbox on 127.0.0.1:8080
	go run ./cmd/tenantry dev

.PHONY: build
build: ## Build bin/tenantry
	go build -trimpath -o bin/tenantry ./cmd/tenantry

.PHONY: test
test: ## Run all tests
	go test ./...

.PHONY: bare
bare: ## Run all tests as on a machine with only Go, git and coreutils (ARGS="./internal/app")
	scripts/bare $(ARGS)

.PHONY: race
race: ## Run all tests under the race detector
	scripts/race $(ARGS)

.PHONY: three
three: ## Run the black-box tests against three processes behind a proxy (needs PostgreSQL and redis-server)
	scripts/three $(ARGS)

CHECK_CACHE := -X github.com/tenantry/tenantry/internal/querycache.checkHits=yes

.PHONY: citus
citus: ## Run the black-box tests on a Citus cluster (needs Citus, or the URL of a coordinator)
	scripts/citus $(ARGS)

.PHONY: check-cache
check-cache: ## Run all tests and compare each cached value with the database (ARGS="./internal/account/...")
	go run ./internal/testkit/dbtest/shared go test -ldflags="$(CHECK_CACHE)" -timeout 30m $(or $(ARGS),./...)

.PHONY: bench
bench: ## Measure the performance of the service and the machine (ARGS="--only 'record 64'", see tools/bench/README.md)
	go run ./tools/bench $(ARGS)

.PHONY: scale
scale: ## Measure every route on databases of 1, 100 and 20,000 tenants (ARGS="--databases sqlite")
	go run ./tools/bench scale $(ARGS)

.PHONY: chaos
chaos: ## Kill and disconnect the service's dependencies under load, and count lost operations (ARGS="--only killed", see tools/chaos/README.md)
	go run ./tools/chaos $(ARGS)

.PHONY: prove
prove: ## Run all tests with more repetitions
	TENANTRY_TEST_LONG=1 go test -timeout 90m ./...

.PHONY: tidy
tidy: ## Fail if a go.mod or go.sum is not tidy
	go mod tidy -diff
	@for module in $(MODULES); do (cd $$module && go mod tidy -diff) || { echo "$$module: run make tidy-modules"; exit 1; }; done

.PHONY: tidy-modules
tidy-modules: ## Update go.mod and go.sum of the other modules after a change of the service's
	@for module in $(MODULES); do (cd $$module && go mod tidy) || exit 1; done

.PHONY: modules
modules: ## Vet and test the Go client, the testing kit and the example
	@for module in $(MODULES); do (cd $$module && go vet ./... && go test ./...) || exit 1; done
	cd client && GOOS=windows go vet . ./api ./webhook && GOOS=windows go build ./... && go test -race ./...

.PHONY: deadcode
deadcode: ## Fail if there is unreachable code
	@found=$$(go run $(DEADCODE) ./...) || exit 1; \
	! grep -vE '$(ONLY_TESTS)' <<<"$$found"

.PHONY: house
house: ## Print lines per package; fail if a package, file or function is too long
	go test -count=1 -v -run '^TestHouse$$' ./internal/arch

.PHONY: words
words: ## Count phrases that make English hard to read; fail if a count differs from the baseline
	go run ./tools/words
	scripts/check-subjects

.PHONY: setup
setup: ## Install the Git hook that checks commit subjects
	git config core.hooksPath scripts/hooks

.PHONY: generate
generate: ## Generate the query code (sqlc), deploy/citus, api/openapi.yaml, docs/errors.md, the sandbox's coverage and the Go client
	go run $(SQLC) generate
	TENANTRY_UPDATE=1 go test ./internal/sqldb/distribution -run TestScriptIsCurrent -count=1
	TENANTRY_UPDATE=1 go test ./internal/app -run "TestExamples" -count=1
	TENANTRY_UPDATE=1 go test ./internal/app -run "TestOpenAPIFile|TestErrorsPage" -count=1
	TENANTRY_UPDATE=1 go test ./sandbox/stripe -run TestCoverageIsAccurate -count=1
	$(MAKE) client

.PHONY: client
client: ## Generate client/api/api.gen.go and client/operations.go from api/openapi.yaml
	cd client/api && go run $(OAPI_CODEGEN) -config generate.yaml ../../api/openapi.yaml
	cd client && TENANTRY_UPDATE=1 go test -run TestOperationsAreDocumented -count=1 .

.PHONY: console
console: ## Build the web console into web/dist, which is committed (needs npm)
	cd web && npm ci --silent --ignore-scripts --no-audit --no-fund
	cd web && npm run --silent api && npm run --silent check && npm run --silent build -- --logLevel warn && npm run --silent sizes

.PHONY: console-check
console-check: console ## Build the console and fail if web/dist is out of date
	@test -z "$$(git status --porcelain web)" || { git status --short web; echo "web/dist is not what the source gives: run make console and commit it"; exit 1; }

.PHONY: screenshots
screenshots: ## Take the screenshots of the README again (needs npm and chromium)
	go build -o bin/tenantry ./cmd/tenantry
	cd web && TENANTRY_BIN=$(CURDIR)/bin/tenantry ./node tools/screenshots.mjs

.PHONY: console-stories
console-stories: ## Run the end-to-end tests of the console in Chromium against the sandbox (needs npm and chromium)
	go build -o bin/tenantry ./cmd/tenantry
	cd web && TENANTRY_BIN=$(CURDIR)/bin/tenantry npm run --silent stories

.PHONY: page-stories
page-stories: console ## Run the end-to-end tests of the guides and the web components in Chromium (needs npm and chromium)
	go build -o bin/tenantry ./cmd/tenantry
	cd web && TENANTRY_BIN=$(CURDIR)/bin/tenantry npm run --silent pages

.PHONY: clients
clients: ## Build the TypeScript packages in clients/ (needs npm)
	cd clients/testing && npm ci --silent --ignore-scripts && npm run --silent build
	cd clients/typescript && npm ci --silent --ignore-scripts && npm run --silent build

# The program that the tests of the packages and of the examples start: TENANTRY_BIN, or a new
# build.
PROGRAM = { [ -n "$$TENANTRY_BIN" ] || go build -o bin/tenantry ./cmd/tenantry; } && export TENANTRY_BIN="$${TENANTRY_BIN:-$(CURDIR)/bin/tenantry}"

.PHONY: clients-check
clients-check: clients ## Check and test the TypeScript packages (needs npm and chromium)
	$(PROGRAM) && \
	for package in testing typescript; do (cd clients/$$package && npm run --silent check && npm test --silent) || exit 1; done
	cd clients/typescript && npm run --silent sizes
	go test -vet=off -run TypeScript ./internal/guides/apidoc

.PHONY: examples-next
examples-next: clients ## Build the Next.js example and run its end-to-end test (needs npm and chromium)
	cd examples/nextjs && npm ci --silent --ignore-scripts && npm run --silent build
	$(PROGRAM) && cd examples/nextjs && npm test --silent

.PHONY: elements
elements: ## Build the web components into clients/elements/dist, which is committed (needs npm)
	cd clients/elements && npm ci --silent --ignore-scripts --no-audit --no-fund
	cd clients/elements && npm run --silent api && npm run --silent check && npm run --silent build

.PHONY: elements-check
elements-check: elements ## Build the web components and fail if one is too large or out of date
	@test -z "$$(git status --porcelain clients/elements)" || { git status --short clients/elements; echo "clients/elements/dist is not what the source gives: run make elements and commit it"; exit 1; }

.PHONY: openapi-lint
openapi-lint: ## Lint api/openapi.yaml and fail on changes that break clients of the last release (needs npm)
	cd api/lint && npm ci --silent --ignore-scripts --no-audit --no-fund && npm run --silent lint
	go run $(OASDIFF) breaking --fail-on ERR api/released.yaml api/openapi.yaml

.PHONY: api-generators
api-generators: ## Generate clients from api/openapi.yaml with the default options of oapi-codegen, ogen and orval (needs npm)
	OAPI_CODEGEN=$(OAPI_CODEGEN) OGEN=$(OGEN) scripts/generators

.PHONY: generated
generated: ## Fail if generated code (queries, the Go client) is out of date
	go run $(SQLC) diff
	@$(MAKE) --silent client && git diff --exit-code --stat client || { echo "client/api is not what api/openapi.yaml gives: run make client"; exit 1; }

.PHONY: lint
lint: ## Check style and common mistakes
	go run $(GOLANGCI_LINT) run
	@for module in $(MODULES); do (cd $$module && go run $(GOLANGCI_LINT) run) || exit 1; done

.PHONY: fmt
fmt: ## Format the Go code
	go run $(GOLANGCI_LINT) fmt

.PHONY: vuln
vuln: ## Check for known vulnerabilities (needs the Go vulnerability database)
	go run $(GOVULNCHECK) ./...

.PHONY: notice
notice: ## Generate NOTICE, the licenses of the modules in the program
	go test -count=1 -run '^TestNoticeIsUpToDate$$' ./internal/arch -update

.PHONY: notice-check
notice-check: ## Fail if NOTICE is out of date
	go test -run '^(TestNoticeIsUpToDate|TestLicences)$$' ./internal/arch

.PHONY: deploy-check
deploy-check: ## Validate the files in deploy/ with the tools that are installed
	scripts/check-deploy

.PHONY: release
release: ## Build a release into dist/ (ARGS="linux/amd64" for some platforms; SBOM=1, IMAGE=1, SIGN_KEY=FILE)
	scripts/release $(ARGS)

.PHONY: image
image: ## Build the container image into dist/ without a container engine (ARGS="linux/amd64" for one platform)
	IMAGE=1 scripts/release $(or $(ARGS),linux/amd64 linux/arm64)

.PHONY: image-check
image-check: ## Check the image of dist/, and run it as its user in an empty root folder (needs root and jq)
	scripts/check-image

.PHONY: fuzz
fuzz: ## Run the fuzz tests of all parsers (FUZZTIME=1m for each; ARGS=Cookies for some)
	scripts/fuzz $(ARGS)

.PHONY: release-check
release-check: ## Run all checks that a release must pass (needs the vulnerability database)
	scripts/release-check

.PHONY: ci
ci: ## Run the checks that a change must pass
	bash .ci/run

.PHONY: nightly
nightly: ## Run the checks that are too slow for every change, about two hours
	scripts/nightly
