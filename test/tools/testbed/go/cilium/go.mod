module testbed.local/cilium

go 1.26.0

require github.com/cilium/cilium v1.18.1
