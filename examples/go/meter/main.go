// Command meter records an API call of a tenant.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
)

func main() {
	c, err := client.New(os.Getenv("TENANTRY_URL"), client.WithAPIKey(os.Getenv("TENANTRY_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := c.RecordUsage(context.Background(), os.Getenv("TENANT"), api.UsageEventInput{MeterCode: "api-calls"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("recorded", answer.Data.Quantity, "at", answer.Data.RecordedAt)
}
