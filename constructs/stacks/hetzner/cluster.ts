import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { KubeadmConfigTemplate } from '../../../imports/bootstrap.cluster.x-k8s.io.ts';
import { Cluster } from '../../../imports/cluster.x-k8s.io.ts';
import { HCloudMachineTemplate, HetznerCluster } from '../../../imports/infrastructure.cluster.x-k8s.io.ts';
import type { z } from 'zod';
import type { ExposureSpec } from '../../api/exposure-spec.ts';
import { groupOf, HostedControlPlane } from '../../api/resources.ts';
import type { Endpoint } from '../../cluster/facts.ts';
import { Workers } from '../workers.ts';
import type { HetznerValues } from './values.ts';

/** How workers and users reach the API server. */
export interface HetznerAccess {
  readonly exposure: z.input<typeof ExposureSpec>;
  /** Undefined while only the load balancer of the control plane knows it. */
  readonly endpoint?: Endpoint;
}

export interface HetznerHostedClusterProps {
  readonly name: string;
  readonly namespace: string;
  /** Version of Kubernetes, such as v1.34.3. */
  readonly version: string;
  readonly values: Pick<
    HetznerValues,
    'workersNumber' | 'sshKeyNames' | 'tokenRef' | 'hcloudNetwork' | 'worker' | 'region' | 'clusterNetwork'
  > & { readonly controlPlane: { readonly replicas: number } };
  readonly access: HetznerAccess;
  /** Changes with every change of the machines: their template is immutable. */
  readonly machineHash: string;
}

/** With it CAPH accepts a HetznerCluster that has no endpoint yet. */
const allowEmptyEndpoint = 'capi.syself.com/allow-empty-control-plane-address';

/** A Cluster with a hosted control plane and workers in Hetzner Cloud. */
export class HetznerHostedCluster extends Chart {
  constructor(scope: Construct, id: string, props: HetznerHostedClusterProps) {
    super(scope, id, { disableResourceNameHashes: true });
    const { name, namespace, version, values, access } = props;
    const named = (suffix: string) => ({ name: `${name}${suffix}`, namespace });
    const machine = { ...HCloudMachineTemplate.GVK, name: `${name}-mt-${props.machineHash}` };
    new Cluster(this, 'cluster', {
      metadata: named(''),
      spec: {
        clusterNetwork: {
          pods: { cidrBlocks: values.clusterNetwork.pods },
          services: { cidrBlocks: values.clusterNetwork.services },
        },
        controlPlaneRef: {
          apiGroup: groupOf(HostedControlPlane),
          kind: HostedControlPlane.kind,
          name: `${name}-cp`,
        },
        infrastructureRef: { apiGroup: groupOf(HetznerCluster.GVK), kind: HetznerCluster.GVK.kind, name },
      },
    });
    const { apiVersion, kind } = HostedControlPlane;
    new ApiObject(this, 'control-plane', {
      apiVersion,
      kind,
      metadata: named('-cp'),
      spec: { version, replicas: values.controlPlane.replicas, exposure: access.exposure },
    });
    new HetznerCluster(this, 'hetzner-cluster', {
      metadata: {
        ...named(''),
        ...(access.endpoint === undefined && { annotations: { [allowEmptyEndpoint]: 'true' } }),
      },
      spec: {
        // Otherwise CAPH creates a load balancer, and takes its address as the endpoint.
        controlPlaneLoadBalancer: { enabled: false },
        ...(access.endpoint && { controlPlaneEndpoint: access.endpoint }),
        controlPlaneRegions: [values.region],
        hcloudNetwork: values.hcloudNetwork,
        hetznerSecretRef: { name: values.tokenRef.name, key: { hcloudToken: values.tokenRef.key } },
        sshKeys: { hcloud: values.sshKeyNames.map((key) => ({ name: key })) },
      },
    });
    new HCloudMachineTemplate(this, 'machine-template', {
      metadata: { name: machine.name, namespace },
      spec: { template: { spec: { imageName: values.worker.image, type: values.worker.type } } },
    });
    new KubeadmConfigTemplate(this, 'machine-config', {
      metadata: named('-machine-config'),
      spec: { template: { spec: workerConfig(version) } },
    });
    new Workers(this, 'workers', {
      metadata: named('-md'),
      clusterName: name,
      version,
      replicas: values.workersNumber,
      failureDomain: values.region,
      bootstrap: `${name}-machine-config`,
      infrastructure: { apiGroup: groupOf(machine), kind: machine.kind, name: machine.name },
    });
  }
}

/** cloud-init fills in the braces, from the metadata of the machine. */
function workerConfig(version: string) {
  return {
    files: [{ path: installScriptPath, permissions: '0755', owner: 'root:root', content: installScript(version) }],
    preKubeadmCommands: [installScriptPath],
    joinConfiguration: {
      nodeRegistration: {
        name: '{{ local_hostname }}',
        // By the ID Cluster API recognizes the node, without a cloud controller manager.
        kubeletExtraArgs: [{ name: 'provider-id', value: 'hcloud://{{ instance_id }}' }],
      },
    },
  };
}

/** Where the script is on a worker. */
const installScriptPath = '/usr/local/sbin/install-kubernetes';

/**
 * The script that makes a worker of a stock image of Debian or Ubuntu: it installs containerd, the kubelet and kubeadm. On
 * an image that has kubeadm it does nothing.
 * @param version such as v1.34.3
 */
function installScript(version: string): string {
  return `#!/bin/bash
set -euo pipefail
if command -v kubeadm >/dev/null; then exit 0; fi
version=${version}
minor="\${version%.*}"
printf 'overlay\\nbr_netfilter\\n' >/etc/modules-load.d/kubernetes.conf
modprobe -a overlay br_netfilter
printf 'net.ipv4.ip_forward = 1\\nnet.bridge.bridge-nf-call-iptables = 1\\nnet.bridge.bridge-nf-call-ip6tables = 1\\n' \\
  >/etc/sysctl.d/99-kubernetes.conf
sysctl --system >/dev/null
swapoff -a
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y apt-transport-https ca-certificates conntrack containerd curl gpg
mkdir -p /etc/containerd /etc/apt/keyrings
containerd config default | sed 's/SystemdCgroup = false/SystemdCgroup = true/' >/etc/containerd/config.toml
systemctl restart containerd
curl -fsSL "https://pkgs.k8s.io/core:/stable:/\${minor}/deb/Release.key" \\
  | gpg --dearmor --yes -o /etc/apt/keyrings/kubernetes.gpg
echo "deb [signed-by=/etc/apt/keyrings/kubernetes.gpg] https://pkgs.k8s.io/core:/stable:/\${minor}/deb/ /" \\
  >/etc/apt/sources.list.d/kubernetes.list
apt-get update
apt-get install -y "kubelet=\${version#v}-*" "kubeadm=\${version#v}-*"
apt-mark hold kubelet kubeadm
systemctl enable --now kubelet
`;
}
