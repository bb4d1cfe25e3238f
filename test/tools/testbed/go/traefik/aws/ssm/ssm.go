// Package ssm is a compile-time stand-in for the client of Systems Manager: every call fails.
package ssm

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
)

var errUnsupported = errors.New("ssm: not in this build")

// Client fails every call.
type Client struct{}

// NewFromConfig returns a client that fails every call.
func NewFromConfig(aws.Config) *Client { return &Client{} }

// DescribeInstanceInformationInput is what to look for.
type DescribeInstanceInformationInput struct {
	Filters []types.InstanceInformationStringFilter
}

// DescribeInstanceInformationOutput is what was found.
type DescribeInstanceInformationOutput struct {
	InstanceInformationList []types.InstanceInformation
}

// DescribeInstanceInformationPaginator has one page, which fails.
type DescribeInstanceInformationPaginator struct{}

// NewDescribeInstanceInformationPaginator returns a paginator whose page fails.
func NewDescribeInstanceInformationPaginator(*Client, *DescribeInstanceInformationInput) *DescribeInstanceInformationPaginator {
	return &DescribeInstanceInformationPaginator{}
}

// HasMorePages is true, so that the failure is seen.
func (*DescribeInstanceInformationPaginator) HasMorePages() bool { return true }

// NextPage always fails.
func (*DescribeInstanceInformationPaginator) NextPage(context.Context) (*DescribeInstanceInformationOutput, error) {
	return nil, errUnsupported
}
