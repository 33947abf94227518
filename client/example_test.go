package client_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
)

// Create an account with its organization. Then act as the new user.
func Example_signUp() {
	ctx := context.Background()
	public, err := client.New("https://billing.example.com")
	if err != nil {
		log.Fatal(err)
	}
	login, err := public.Register(ctx, api.RegisterRequest{
		Name: "Ada Lovelace", Email: "ada@example.com", TenantName: new("Analytical Engines"),
		Password: new("correct horse battery"), PasswordConfirmation: new("correct horse battery"),
	})
	if err != nil {
		log.Fatal(err) // a *client.Error with the invalid fields
	}
	user, err := client.New("https://billing.example.com", client.WithTokens(client.Tokens{Access: *login.AccessToken, Refresh: *login.RefreshToken}))
	if err != nil {
		log.Fatal(err)
	}
	me, err := user.ShowProfile(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(me.User.Name)
}

// Create an account and buy a plan in one step: redirect the customer to the payment page, and
// check the progress when they return.
func Example_onboarding() {
	ctx := context.Background()
	public, err := client.New("https://billing.example.com")
	if err != nil {
		log.Fatal(err)
	}
	started, err := public.StartOnboarding(ctx, api.StartOnboardingRequest{
		Name: "Ada Lovelace", Email: "ada@example.com", TenantName: new("Analytical Engines"),
		Password: "correct horse battery", PasswordConfirmation: "correct horse battery",
		PlanSlug: "team", Currency: "EUR", Quantity: new(int64(5)),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pay at", started.CheckoutURL)

	user, err := client.New("https://billing.example.com", client.WithTokens(client.Tokens{Access: *started.AccessToken, Refresh: *started.RefreshToken}))
	if err != nil {
		log.Fatal(err)
	}
	status, err := user.ShowOnboarding(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.HasSubscription, status.OnboardingCompleted)
}

// Invite a member, and accept the invitation with the token from the email.
func Example_invitation() {
	ctx := context.Background()
	owner, err := client.New("https://billing.example.com", client.WithLogin("ada@example.com", os.Getenv("ADA_PASSWORD")))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := owner.InviteMember(ctx, "019c0000-0000-7000-8000-000000000001", api.InvitationInput{Email: "bob@example.com", Role: "member"}); err != nil {
		log.Fatal(err)
	}

	public, err := client.New("https://billing.example.com")
	if err != nil {
		log.Fatal(err)
	}
	token := "the token of the link in the mail"
	joined, err := public.RegisterWithInvitation(ctx, token, api.RegisterWithInvitationRequest{
		Name: "Bob", Email: "bob@example.com", Password: "staple battery horse", PasswordConfirmation: "staple battery horse",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*joined.Meta.AccessToken)
}
