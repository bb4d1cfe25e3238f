// Package types has the fields of EC2's objects that Traefik reads.
package types

// InstanceStateName is the state of an instance.
type InstanceStateName string

// The states that Traefik tells apart.
const (
	InstanceStateNamePending InstanceStateName = "pending"
	InstanceStateNameRunning InstanceStateName = "running"
)

// InstanceState has the state of an instance.
type InstanceState struct{ Name InstanceStateName }

// Instance is a machine.
type Instance struct {
	InstanceId       *string
	PrivateIpAddress *string
	State            *InstanceState
}

// Reservation is a group of instances.
type Reservation struct{ Instances []Instance }
