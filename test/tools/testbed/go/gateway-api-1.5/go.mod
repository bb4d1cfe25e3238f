module testbed.local/gateway-api-1.5

go 1.26.0

require sigs.k8s.io/gateway-api v1.5.1
