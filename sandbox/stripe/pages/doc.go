// Package pages contains the shared parts of the provider's web pages and documents: layout, content
// security policy, error response, and PDF.
package pages
