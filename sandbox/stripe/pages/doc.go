// Package pages contains the shared parts of the provider's web pages: layout, content security
// policy and error response.
package pages
