/** The API group of all kinds. The manager role of Cluster API's core already covers every resource of this group. */
export const group = 'controlplane.cluster.x-k8s.io';

/** The only served and stored version. */
export const version = 'v1alpha1';

export const apiVersion = `${group}/${version}`;

/** clusterctl finds all objects of the provider by this label. */
export const providerLabel = 'cluster.x-k8s.io/provider';
export const providerLabelValue = 'control-plane-hosted-control-plane';

/**
 * Names the version of a CRD that implements a Cluster API contract. A version must have one contract label only: core
 * maps versions to contracts in random label order.
 */
export const contractLabel = 'cluster.x-k8s.io/v1beta2';

/** Makes `clusterctl move` include the objects of a CRD, also when the CRD was installed without clusterctl. */
export const clusterctlLabel = 'clusterctl.cluster.x-k8s.io';

/** On an object, or on a CRD for all its objects: `clusterctl move` takes it along although no Cluster owns it. */
export const clusterctlMoveLabel = `${clusterctlLabel}/move`;

/** On all objects of one Cluster; the value is the name of the Cluster. */
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

/** Shards HostedControlPlanes across several operators. Each operator compares the value with its `--watch-filter`. */
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter';

/** With any value, the operator stops all writes for the object. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';

/**
 * Requests a rotation: `<prefix>/rotate-<cluster-ca|etcd-ca|proxy-ca|service-account-key>` with any text that it did
 * not have before. `spec.certificates.rotation` has the same effect.
 */
export const rotateAnnotation = (what: string): string => `${group}/rotate-${what}`;

/** On the Secret of a CA or of service account keys: the rotation requests that the operator has completed. */
export const rotatedForAnnotation = `${group}/rotated-for`;

/** Annotation of a Node, set by Cluster API, with its Machine. */
export const machineAnnotation = 'cluster.x-k8s.io/machine';

/** Annotations of a Node, set by Cluster API, with the object that owns its Machine or, without Machines, itself. */
export const ownerKindAnnotation = 'cluster.x-k8s.io/owner-kind';
export const ownerNameAnnotation = 'cluster.x-k8s.io/owner-name';

/**
 * On a Node of a hosted cluster: the CA that signed the newest client certificate of its kubelet, by the first digits
 * of the CA's fingerprint. The operator reads it from certificate signing requests, which are gone after an hour.
 */
export const clientCertificateSignerAnnotation = `${group}/client-certificate-signer`;

/** The same for the newest serving certificate of its kubelet. */
export const servingCertificateSignerAnnotation = `${group}/serving-certificate-signer`;

/** On a MachineDeployment: the cluster CA for which the operator has replaced its Machines, in the same format. */
export const rolledOutForAnnotation = `${group}/rolled-out-for`;

/**
 * On the template of a MachinePool: since when the signing cluster CA is valid, as in teutonet's provider. Cluster API
 * copies it to Machines; whether machines are replaced for it is up to their infrastructure.
 */
export const caNotBeforeAnnotation = `${group}/ca-not-before`;

/** On the objects with which the operator requests a CA from an issuer: the Secret that will hold the CA. */
export const requestedForLabel = `${group}/requested-for`;

/**
 * On a HostedControlPlane: checks before an upgrade that do not stop it, separated by commas, such as `nodes,webhooks`. An
 * Event names what they have found.
 */
export const skipPreflightAnnotation = `${group}/skip-preflight`;

/**
 * Requests a backup: any new text triggers one, and `status.etcd.backup.lastRequest` repeats the text when that backup
 * is stored.
 */
export const backupAnnotation = `${group}/backup`;

/**
 * On a Secret with the address of a bucket: the other namespaces that may use it. As an annotation it is a list, separated
 * by commas, in which `*` stands for every namespace; as a label it is one namespace.
 */
export const backupAccess = `${group}/backup-access`;

/**
 * On a Secret with the label {@link backupAccess}: the one namespace whose backups the namespace in that label may restore
 * besides its own.
 */
export const restoreAccessLabel = `${group}/restore-from`;

/**
 * On a Secret with the token of a receiver of audit records: the other namespaces that may use the token, separated by
 * commas, or `*` for all.
 */
export const auditAccessAnnotation = `${group}/audit-access`;

/**
 * On the same Secret, also in the namespace of the HostedControlPlane: the receivers that get its token, as host or host:port, separated
 * by commas.
 */
export const auditReceiversAnnotation = `${group}/audit-receivers`;

/**
 * On a ServiceAccount: the HostedControlPlanes of its namespace, separated by commas, that sign in to their backup
 * stores with its tokens.
 */
export const backupIdentityAnnotation = `${group}/backup-identity-of`;

/** On the same ServiceAccount: the token services besides that of AWS that get its tokens, as host or host:port, separated by commas. */
export const backupTokenServicesAnnotation = `${group}/backup-token-services`;

/** On a Secret with encryption keys of backups: the name of the key that encrypts. */
export const encryptionKeyAnnotation = `${group}/encryption-key`;

/**
 * On Secrets with CAs and keys that the operator adopted from a backup: `<namespace>/<name>` of the Cluster that they
 * belong to.
 */
export const identityAnnotation = `${group}/identity-of`;

/**
 * On a HostedControlPlane whose etcd was ever formed: the ID of the etcd cluster. Unlike the status, it stays with the
 * object when that is moved to another management cluster or restored from its manifest. No member then starts an empty
 * etcd.
 */
export const etcdFormedAnnotation = `${group}/etcd-formed`;

/**
 * On the Secret with the service account keys: the issuer of the tokens that they sign, as an `https` URL. It stays with
 * the keys when they are moved, kept, or adopted from a backup.
 */
export const serviceAccountIssuerAnnotation = `${group}/service-account-issuer`;

/**
 * On the Secret with the service account keys: the networks and the DNS domain that the control plane was initialized with, as
 * JSON in the form of `status.network`. It stays with the keys when they are moved, kept, or adopted from a backup.
 */
export const clusterNetworkAnnotation = `${group}/cluster-network`;

/**
 * On a HostedControlPlane: the release revision to adopt, such as `2`, if it is rendered by an older one. That replaces the pods
 * that the newer one renders in another way.
 */
export const adoptRevisionAnnotation = `${group}/adopt-revision`;

/** With any value, this HostedControlPlane is among the first that adopt a release revision when theirs is no longer kept. */
export const canaryLabel = `${group}/canary`;

/**
 * On a workload: when an API server accepted its pods again, after it had refused them. The change lets the controller of the workload try at
 * once, which would wait for a quarter of an hour at most.
 */
export const podsAcceptedAnnotation = `${group}/pods-accepted-at`;

/** On the StatefulSet of etcd: the release revision by which it is rendered; the first one when missing. */
export const releaseRevisionAnnotation = `${group}/release-revision`;

/**
 * On a HostedControlPlane: hibernates although Machines exist. Any text. Their kubelets keep their pods running, and need their API
 * server again before their certificates expire.
 */
export const hibernateWithMachinesAnnotation = `${group}/hibernate-with-machines`;

/**
 * On a HostedControlPlane: asks to stop its API servers, and to keep all data of etcd in a backup, so that `clusterctl move` can take it to
 * another management cluster. Any text; without the annotation, or in that other management cluster, API servers run.
 */
export const prepareMoveAnnotation = `${group}/prepare-move`;

/**
 * On a HostedControlPlane that is prepared for a move: `<uid>/<backup>`, its own uid and the backup that holds all data of its etcd.
 * The object that a move creates has another uid, and is restored from that backup.
 */
export const movedDataAnnotation = `${group}/moved-data`;

/** On an object, `clusterctl move` waits until it is gone. */
export const blockMoveAnnotation = `${clusterctlLabel}/block-move`;

/** On a Secret that a deletion has kept with the volumes of etcd: `true` until another HostedControlPlane owns it. */
export const keptAnnotation = `${group}/kept`;

/** On a Secret that cannot be made again: it is gone only once the operator has put another one of its content in its place, or needs it no more. */
export const keyFinalizer = `${group}/keys`;

/** On a Secret with keys: the operator needs it no more, and deletes it next. */
export const discardedAnnotation = `${group}/discarded`;

/** On an object that the garbage collector must not delete with its HostedControlPlane: the uid of that, which deletes it. */
export const heldForAnnotation = `${group}/held-for`;

/** On the copy of such a Secret, while that is replaced: the uid of its owner. */
export const copyOfAnnotation = `${group}/copy-of`;

/**
 * On a Gateway, which the platform owns: hosts that namespaces may take besides those below their own name. Entries such
 * as `team/prod.clusters.example.com` and `team/*.prod.example.com`, separated by commas; `*` stands for any namespace, or
 * for any host.
 */
export const admittedHostsAnnotation = `${group}/admitted-hosts`;

/**
 * On a Gateway: the port at which clients reach its listeners, where that is another one than they listen at. `443` for all of them, or
 * entries such as `tls=443`, separated by commas.
 */
export const outsidePortAnnotation = `${group}/outside-port`;

/** On the Secret that `hcp-import` writes: `<provider>/<name>` of the control plane that it imports. */
export const importedFromAnnotation = `${group}/imported-from`;

/** On the same Secret: since when API servers of the other provider have been stopped, in ISO 8601. */
export const importStoppedAnnotation = `${group}/import-stopped`;

/** On the same Secret: the snapshot with the final data of the other provider, once it is stored and checked. */
export const importSnapshotAnnotation = `${group}/import-snapshot`;

/** On the same Secret: version of the etcd that has written the snapshot. */
export const importEtcdVersionAnnotation = `${group}/import-etcd-version`;

/**
 * On a PersistentVolume with data of another provider: `<namespace>/<cluster>` that `hcp-import` keeps it for, until a
 * person lets it go.
 */
export const keptVolumeAnnotation = `${group}/kept-for-import-of`;

/** On the same PersistentVolume: its reclaim policy before. */
export const reclaimPolicyAnnotation = `${group}/reclaim-policy-before-import`;

/** On a HostedControlPlane, a Cluster or a Namespace: with any value but `false`, the installation refuses its deletion. */
export const deletionProtectionAnnotation = `${group}/deletion-protection`;

/** Type of the Secrets that Cluster API and its bootstrap providers read. */
export const clusterSecretType = 'cluster.x-k8s.io/secret';

/** Group and kind of the owner that a HostedControlPlane waits for. Core chooses the version. */
export const clusterOwner = { group: 'cluster.x-k8s.io', kind: 'Cluster' } as const;

export const finalizer = 'hcp.controlplane.cluster.x-k8s.io';

/** Field manager of every field that the operator applies. */
export const fieldManager = 'hosted-control-plane-controller';
