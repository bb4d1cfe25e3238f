// Package ecs is a compile-time stand-in for the client of ECS: every call fails.
package ecs

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

var errUnsupported = errors.New("ecs: not in this build")

// Client fails every call.
type Client struct{}

// NewFromConfig returns a client that fails every call.
func NewFromConfig(aws.Config) *Client { return &Client{} }

// The inputs and outputs of the calls.
type (
	ListClustersInput  struct{}
	ListClustersOutput struct{ ClusterArns []string }
	ListTasksInput     struct {
		Cluster       *string
		DesiredStatus types.DesiredStatus
	}
	ListTasksOutput    struct{ TaskArns []string }
	DescribeTasksInput struct {
		Tasks   []string
		Cluster *string
	}
	DescribeTasksOutput             struct{ Tasks []types.Task }
	DescribeContainerInstancesInput struct {
		ContainerInstances []string
		Cluster            *string
	}
	DescribeContainerInstancesOutput struct{ ContainerInstances []types.ContainerInstance }
	DescribeTaskDefinitionInput      struct{ TaskDefinition *string }
	DescribeTaskDefinitionOutput     struct{ TaskDefinition *types.TaskDefinition }
)

// DescribeTasks always fails.
func (*Client) DescribeTasks(context.Context, *DescribeTasksInput) (*DescribeTasksOutput, error) {
	return nil, errUnsupported
}

// DescribeContainerInstances always fails.
func (*Client) DescribeContainerInstances(context.Context, *DescribeContainerInstancesInput) (*DescribeContainerInstancesOutput, error) {
	return nil, errUnsupported
}

// DescribeTaskDefinition always fails.
func (*Client) DescribeTaskDefinition(context.Context, *DescribeTaskDefinitionInput) (*DescribeTaskDefinitionOutput, error) {
	return nil, errUnsupported
}

// Paginator has one page, which fails.
type Paginator[Output any] struct{}

// NewListClustersPaginator returns a paginator whose page fails.
func NewListClustersPaginator(*Client, *ListClustersInput) *Paginator[ListClustersOutput] {
	return &Paginator[ListClustersOutput]{}
}

// NewListTasksPaginator returns a paginator whose page fails.
func NewListTasksPaginator(*Client, *ListTasksInput) *Paginator[ListTasksOutput] {
	return &Paginator[ListTasksOutput]{}
}

// HasMorePages is true, so that the failure is seen.
func (*Paginator[Output]) HasMorePages() bool { return true }

// NextPage always fails.
func (*Paginator[Output]) NextPage(context.Context) (*Output, error) { return nil, errUnsupported }
