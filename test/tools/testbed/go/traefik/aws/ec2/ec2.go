// Package ec2 is a compile-time stand-in for the client of EC2: every call fails.
package ec2

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

var errUnsupported = errors.New("ec2: not in this build")

// Client fails every call.
type Client struct{}

// NewFromConfig returns a client that fails every call.
func NewFromConfig(aws.Config) *Client { return &Client{} }

// DescribeInstancesInput is what to look for.
type DescribeInstancesInput struct{ InstanceIds []string }

// DescribeInstancesOutput is what was found.
type DescribeInstancesOutput struct{ Reservations []types.Reservation }

// DescribeInstancesPaginator has one page, which fails.
type DescribeInstancesPaginator struct{}

// NewDescribeInstancesPaginator returns a paginator whose page fails.
func NewDescribeInstancesPaginator(*Client, *DescribeInstancesInput) *DescribeInstancesPaginator {
	return &DescribeInstancesPaginator{}
}

// HasMorePages is true, so that the failure is seen.
func (*DescribeInstancesPaginator) HasMorePages() bool { return true }

// NextPage always fails.
func (*DescribeInstancesPaginator) NextPage(context.Context) (*DescribeInstancesOutput, error) {
	return nil, errUnsupported
}
