// Package types has the fields of Systems Manager's objects that Traefik reads.
package types

// InstanceInformationStringFilter selects instances.
type InstanceInformationStringFilter struct {
	Key    *string
	Values []string
}

// InstanceInformation is a machine.
type InstanceInformation struct{ InstanceId, IPAddress *string }
