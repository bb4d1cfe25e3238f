// Package types has the fields of ECS's objects that Traefik reads.
package types

// The enumerations of ECS.
type (
	DesiredStatus     string
	HealthStatus      string
	NetworkMode       string
	TransportProtocol string
)

// The values that Traefik tells apart.
const (
	DesiredStatusRunning  DesiredStatus     = "RUNNING"
	HealthStatusHealthy   HealthStatus      = "HEALTHY"
	HealthStatusUnhealthy HealthStatus      = "UNHEALTHY"
	NetworkModeAwsvpc     NetworkMode       = "awsvpc"
	TransportProtocolTcp  TransportProtocol = "tcp"
	TransportProtocolUdp  TransportProtocol = "udp"
)

// Task is a running task definition.
type Task struct {
	Attachments                                                         []struct{}
	ContainerInstanceArn, Group, LastStatus, TaskArn, TaskDefinitionArn *string
	Containers                                                          []Container
	HealthStatus                                                        HealthStatus
}

// Container is a container of a task.
type Container struct {
	Name              *string
	NetworkBindings   []PortMapping
	NetworkInterfaces []NetworkInterface
}

// NetworkInterface is a container's own interface.
type NetworkInterface struct{ PrivateIpv4Address, Ipv6Address *string }

// PortMapping maps a port of the machine to one of a container.
type PortMapping struct {
	HostPort, ContainerPort *int32
	Protocol                TransportProtocol
}

// ContainerInstance is a machine that runs tasks.
type ContainerInstance struct{ ContainerInstanceArn, Ec2InstanceId *string }

// TaskDefinition says what a task runs.
type TaskDefinition struct {
	ContainerDefinitions []ContainerDefinition
	NetworkMode          NetworkMode
}

// ContainerDefinition says what a container runs.
type ContainerDefinition struct {
	Name         *string
	DockerLabels map[string]string
	PortMappings []PortMapping
}
