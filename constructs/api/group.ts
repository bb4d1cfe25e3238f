/** The API group of both kinds. Core's manager role already covers every resource of this group. */
export const group = 'controlplane.cluster.x-k8s.io';

/** The only served and stored version. */
export const version = 'v1alpha1';

export const apiVersion = `${group}/${version}`;

/** clusterctl finds everything that belongs to the provider by this label. */
export const providerLabel = 'cluster.x-k8s.io/provider';
export const providerLabelValue = 'control-plane-hosted-control-plane';

/**
 * Says which version of a CRD speaks which Cluster API contract. A version may stand under one contract label only:
 * core maps versions to contracts in random label order.
 */
export const contractLabel = 'cluster.x-k8s.io/v1beta2';

/** Makes `clusterctl move` look at the objects of a CRD, also when the CRD was installed without clusterctl. */
export const clusterctlLabel = 'clusterctl.cluster.x-k8s.io';

/** On everything that belongs to one Cluster; the value is the name of the Cluster. */
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

/** Shards HostedControlPlanes over several instances of the provider; compared with the instance's `--watch-filter`. */
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter';

/** Any value stops all writes for the object that carries it. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';

/**
 * Asks for a rotation: `<prefix>/rotate-<cluster-ca|etcd-ca|proxy-ca|service-account-key>` with any text that it did not
 * have before. `certificates.rotation` of the spec does the same.
 */
export const rotateAnnotation = (what: string): string => `${group}/rotate-${what}`;

/** On the Secret of an authority or of service account keys: the requests for a rotation that it has answered. */
export const rotatedForAnnotation = `${group}/rotated-for`;

/**
 * On a Node of a hosted cluster: the CA that signed the newest client certificate of its kubelet, by the first digits of
 * the CA's fingerprint. Requests for certificates tell, and are gone after an hour.
 */
export const clientCertificateSignerAnnotation = `${group}/client-certificate-signer`;

/** Likewise of the newest certificate that its kubelet serves with. */
export const servingCertificateSignerAnnotation = `${group}/serving-certificate-signer`;

/** On a MachineDeployment: the CA of the cluster for which we have replaced its Machines, named likewise. */
export const rolledOutForAnnotation = `${group}/rolled-out-for`;

/** On what is kept and made to ask an issuer for an authority: the Secret that shall hold it. */
export const requestedForLabel = `${group}/requested-for`;

/** Asks for a backup: any new text takes one, and `status.etcd.backup.lastRequest` repeats it when that is stored. */
export const backupAnnotation = `${group}/backup`;

/** On a Secret with the address of a bucket: the one other namespace that may use it. */
export const backupAccessLabel = `${group}/backup-access`;

/** On a Secret with keys for backups: the name of the one that encrypts. */
export const encryptionKeyAnnotation = `${group}/encryption-key`;

/** On Secrets with authorities and keys that were taken over from a backup: `<namespace>/<name>` of the Cluster they are of. */
export const identityAnnotation = `${group}/identity-of`;

/** Type of the Secrets that Cluster API and its bootstrap providers read. */
export const clusterSecretType = 'cluster.x-k8s.io/secret';

/** Group and kind of the owner a HostedControlPlane waits for; the version is core's to choose. */
export const clusterOwner = { group: 'cluster.x-k8s.io', kind: 'Cluster' } as const;

export const finalizer = 'hcp.controlplane.cluster.x-k8s.io';

/** Owner of every field the provider applies. */
export const fieldManager = 'hosted-control-plane-controller';
