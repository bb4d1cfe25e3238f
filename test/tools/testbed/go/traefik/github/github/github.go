// Package github is a compile-time stand-in for the client of GitHub, which Traefik asks for newer releases: every call fails.
package github

import (
	"context"
	"errors"
	"net/http"
)

// Client fails every call.
type Client struct{ Repositories Repositories }

// Option changes nothing.
type Option struct{}

// WithURLs changes nothing.
func WithURLs(_, _ *string) Option { return Option{} }

// NewClient returns a client that fails every call.
func NewClient(...Option) (*Client, error) { return &Client{}, nil }

// Response is the answer to a call.
type Response struct{ *http.Response }

// Release is a release of a repository.
type Release struct{ TagName string }

// ListOptions selects a page.
type ListOptions struct{}

// Repositories fails every call.
type Repositories struct{}

// ListReleases always fails.
func (Repositories) ListReleases(context.Context, string, string, *ListOptions) ([]Release, *Response, error) {
	return nil, nil, errors.New("github: not in this build")
}
