// k8s.io/kubernetes v1.37.1 of test/tools/testbed/go/kubernetes: written by npm run import
import type { KubeObject, ObjectMeta } from '../reconciler/kube/object.ts';

export interface AWSElasticBlockStoreVolumeSource {
  readonly fsType?: string | undefined;
  readonly partition?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeID?: string | undefined;
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity | undefined;
  readonly podAffinity?: PodAffinity | undefined;
  readonly podAntiAffinity?: PodAntiAffinity | undefined;
}

export interface ApiextensionsServiceReference {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface ApiextensionsWebhookClientConfig {
  readonly caBundle?: string | undefined;
  readonly service?: ApiextensionsServiceReference | undefined;
  readonly url?: string | undefined;
}

export interface AppArmorProfile {
  readonly localhostProfile?: string | undefined;
  readonly type?: string | undefined;
}

export interface AttachedVolume {
  readonly devicePath?: string | undefined;
  readonly name?: string | undefined;
}

export interface AzureDiskVolumeSource {
  readonly cachingMode?: string | undefined;
  readonly diskName?: string | undefined;
  readonly diskURI?: string | undefined;
  readonly fsType?: string | undefined;
  readonly kind?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface AzureFilePersistentVolumeSource {
  readonly readOnly?: boolean | undefined;
  readonly secretName?: string | undefined;
  readonly secretNamespace?: string | undefined;
  readonly shareName?: string | undefined;
}

export interface AzureFileVolumeSource {
  readonly readOnly?: boolean | undefined;
  readonly secretName?: string | undefined;
  readonly shareName?: string | undefined;
}

export interface CSIPersistentVolumeSource {
  readonly controllerExpandSecretRef?: SecretReference | undefined;
  readonly controllerPublishSecretRef?: SecretReference | undefined;
  readonly driver?: string | undefined;
  readonly fsType?: string | undefined;
  readonly nodeExpandSecretRef?: SecretReference | undefined;
  readonly nodePublishSecretRef?: SecretReference | undefined;
  readonly nodeStageSecretRef?: SecretReference | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeAttributes?: Readonly<Record<string, string>> | undefined;
  readonly volumeHandle?: string | undefined;
}

export interface CSIVolumeSource {
  readonly driver?: string | undefined;
  readonly fsType?: string | undefined;
  readonly nodePublishSecretRef?: LocalObjectReference | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeAttributes?: Readonly<Record<string, string>> | undefined;
}

export interface Capabilities {
  readonly add?: readonly string[] | undefined;
  readonly drop?: readonly string[] | undefined;
}

export interface CephFSPersistentVolumeSource {
  readonly monitors?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretFile?: string | undefined;
  readonly secretRef?: SecretReference | undefined;
  readonly user?: string | undefined;
}

export interface CephFSVolumeSource {
  readonly monitors?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretFile?: string | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
  readonly user?: string | undefined;
}

export interface CertificateSigningRequestCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface CertificateSigningRequestObject extends KubeObject {
  readonly spec?: CertificateSigningRequestSpec | undefined;
  readonly status?: CertificateSigningRequestStatus | undefined;
}

export interface CertificateSigningRequestSpec {
  readonly expirationSeconds?: number | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly request?: string | undefined;
  readonly signerName?: string | undefined;
  readonly uid?: string | undefined;
  readonly usages?: readonly string[] | undefined;
  readonly username?: string | undefined;
}

export interface CertificateSigningRequestStatus {
  readonly certificate?: string | undefined;
  readonly conditions?: readonly CertificateSigningRequestCondition[] | undefined;
}

export interface CinderPersistentVolumeSource {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReference | undefined;
  readonly volumeID?: string | undefined;
}

export interface CinderVolumeSource {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
  readonly volumeID?: string | undefined;
}

export interface ClientIPConfig {
  readonly timeoutSeconds?: number | undefined;
}

export interface ClusterTrustBundleProjection {
  readonly labelSelector?: LabelSelector | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly path?: string | undefined;
  readonly signerName?: string | undefined;
  readonly user?: number | undefined;
}

export interface Condition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface ConfigMapEnvSource {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface ConfigMapKeySelector {
  readonly key?: string | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface ConfigMapNodeConfigSource {
  readonly kubeletConfigKey?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly uid?: string | undefined;
}

export interface ConfigMapObject extends KubeObject {
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly immutable?: boolean | undefined;
}

export interface ConfigMapProjection {
  readonly items?: readonly KeyToPath[] | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface ConfigMapVolumeSource {
  readonly defaultMode?: number | undefined;
  readonly defaultUser?: number | undefined;
  readonly items?: readonly KeyToPath[] | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface Container {
  readonly args?: readonly string[] | undefined;
  readonly command?: readonly string[] | undefined;
  readonly env?: readonly EnvVar[] | undefined;
  readonly envFrom?: readonly EnvFromSource[] | undefined;
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  readonly lifecycle?: Lifecycle | undefined;
  readonly livenessProbe?: Probe | undefined;
  readonly name?: string | undefined;
  readonly ports?: readonly ContainerPort[] | undefined;
  readonly readinessProbe?: Probe | undefined;
  readonly resizePolicy?: readonly ContainerResizePolicy[] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: readonly ContainerRestartRule[] | undefined;
  readonly securityContext?: SecurityContext | undefined;
  readonly startupProbe?: Probe | undefined;
  readonly stdin?: boolean | undefined;
  readonly stdinOnce?: boolean | undefined;
  readonly terminationMessagePath?: string | undefined;
  readonly terminationMessagePolicy?: string | undefined;
  readonly tty?: boolean | undefined;
  readonly volumeDevices?: readonly VolumeDevice[] | undefined;
  readonly volumeMounts?: readonly VolumeMount[] | undefined;
  readonly workingDir?: string | undefined;
}

export interface ContainerExtendedResourceRequest {
  readonly containerName?: string | undefined;
  readonly requestName?: string | undefined;
  readonly resourceName?: string | undefined;
}

export interface ContainerImage {
  readonly names?: readonly string[] | undefined;
  readonly sizeBytes?: number | undefined;
}

export interface ContainerPort {
  readonly containerPort?: number | undefined;
  readonly hostIP?: string | undefined;
  readonly hostPort?: number | undefined;
  readonly name?: string | undefined;
  readonly protocol?: string | undefined;
}

export interface ContainerResizePolicy {
  readonly resourceName?: string | undefined;
  readonly restartPolicy?: string | undefined;
}

export interface ContainerRestartRule {
  readonly action?: string | undefined;
  readonly exitCodes?: ContainerRestartRuleOnExitCodes | undefined;
}

export interface ContainerRestartRuleOnExitCodes {
  readonly operator?: string | undefined;
  readonly values?: readonly number[] | undefined;
}

export interface ContainerState {
  readonly running?: ContainerStateRunning | undefined;
  readonly terminated?: ContainerStateTerminated | undefined;
  readonly waiting?: ContainerStateWaiting | undefined;
}

export interface ContainerStateRunning {
  readonly startedAt?: string | undefined;
}

export interface ContainerStateTerminated {
  readonly containerID?: string | undefined;
  readonly exitCode?: number | undefined;
  readonly finishedAt?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly signal?: number | undefined;
  readonly startedAt?: string | undefined;
}

export interface ContainerStateWaiting {
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
}

export interface ContainerStatus {
  readonly allocatedResources?: Readonly<Record<string, string>> | undefined;
  readonly allocatedResourcesStatus?: readonly ResourceStatus[] | undefined;
  readonly containerID?: string | undefined;
  readonly image?: string | undefined;
  readonly imageID?: string | undefined;
  readonly lastState?: ContainerState | undefined;
  readonly name?: string | undefined;
  readonly ready?: boolean | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly restartCount?: number | undefined;
  readonly started?: boolean | undefined;
  readonly state?: ContainerState | undefined;
  readonly stopSignal?: string | undefined;
  readonly user?: ContainerUser | undefined;
  readonly volumeMounts?: readonly VolumeMountStatus[] | undefined;
}

export interface ContainerUser {
  readonly linux?: LinuxContainerUser | undefined;
}

export interface CustomResourceColumnDefinition {
  readonly description?: string | undefined;
  readonly format?: string | undefined;
  readonly jsonPath?: string | undefined;
  readonly name?: string | undefined;
  readonly priority?: number | undefined;
  readonly type?: string | undefined;
}

export interface CustomResourceConversion {
  readonly strategy?: string | undefined;
  readonly webhook?: WebhookConversion | undefined;
}

export interface CustomResourceDefinitionCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface CustomResourceDefinitionNames {
  readonly categories?: readonly string[] | undefined;
  readonly kind?: string | undefined;
  readonly listKind?: string | undefined;
  readonly plural?: string | undefined;
  readonly shortNames?: readonly string[] | undefined;
  readonly singular?: string | undefined;
}

export interface CustomResourceDefinitionObject extends KubeObject {
  readonly spec?: CustomResourceDefinitionSpec | undefined;
  readonly status?: CustomResourceDefinitionStatus | undefined;
}

export interface CustomResourceDefinitionSpec {
  readonly conversion?: CustomResourceConversion | undefined;
  readonly group?: string | undefined;
  readonly names?: CustomResourceDefinitionNames | undefined;
  readonly preserveUnknownFields?: boolean | undefined;
  readonly scope?: string | undefined;
  readonly versions?: readonly CustomResourceDefinitionVersion[] | undefined;
}

export interface CustomResourceDefinitionStatus {
  readonly acceptedNames?: CustomResourceDefinitionNames | undefined;
  readonly conditions?: readonly CustomResourceDefinitionCondition[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly storedVersions?: readonly string[] | undefined;
}

export interface CustomResourceDefinitionVersion {
  readonly additionalPrinterColumns?: readonly CustomResourceColumnDefinition[] | undefined;
  readonly deprecated?: boolean | undefined;
  readonly deprecationWarning?: string | undefined;
  readonly name?: string | undefined;
  readonly schema?: CustomResourceValidation | undefined;
  readonly selectableFields?: readonly SelectableField[] | undefined;
  readonly served?: boolean | undefined;
  readonly storage?: boolean | undefined;
  readonly subresources?: CustomResourceSubresources | undefined;
}

export interface CustomResourceSubresourceScale {
  readonly labelSelectorPath?: string | undefined;
  readonly specReplicasPath?: string | undefined;
  readonly statusReplicasPath?: string | undefined;
}

export interface CustomResourceSubresources {
  readonly scale?: CustomResourceSubresourceScale | undefined;
  readonly status?: Readonly<Record<string, unknown>> | undefined;
}

export interface CustomResourceValidation {
  readonly openAPIV3Schema?: JSONSchemaProps | undefined;
}

export interface DaemonEndpoint {
  readonly Port?: number | undefined;
}

export interface DaemonSetCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface DaemonSetObject extends KubeObject {
  readonly spec?: DaemonSetSpec | undefined;
  readonly status?: DaemonSetStatus | undefined;
}

export interface DaemonSetSpec {
  readonly minReadySeconds?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly template?: PodTemplateSpec | undefined;
  readonly updateStrategy?: DaemonSetUpdateStrategy | undefined;
}

export interface DaemonSetStatus {
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly DaemonSetCondition[] | undefined;
  readonly currentNumberScheduled?: number | undefined;
  readonly desiredNumberScheduled?: number | undefined;
  readonly numberAvailable?: number | undefined;
  readonly numberMisscheduled?: number | undefined;
  readonly numberReady?: number | undefined;
  readonly numberUnavailable?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly updatedNumberScheduled?: number | undefined;
}

export interface DaemonSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateDaemonSet | undefined;
  readonly type?: string | undefined;
}

export interface DeploymentCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface DeploymentObject extends KubeObject {
  readonly spec?: DeploymentSpec | undefined;
  readonly status?: DeploymentStatus | undefined;
}

export interface DeploymentSpec {
  readonly minReadySeconds?: number | undefined;
  readonly paused?: boolean | undefined;
  readonly progressDeadlineSeconds?: number | undefined;
  readonly replicas?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly strategy?: DeploymentStrategy | undefined;
  readonly template?: PodTemplateSpec | undefined;
}

export interface DeploymentStatus {
  readonly availableReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly DeploymentCondition[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas?: number | undefined;
  readonly terminatingReplicas?: number | undefined;
  readonly unavailableReplicas?: number | undefined;
  readonly updatedReplicas?: number | undefined;
}

export interface DeploymentStrategy {
  readonly rollingUpdate?: RollingUpdateDeployment | undefined;
  readonly type?: string | undefined;
}

export interface DownwardAPIProjection {
  readonly items?: readonly DownwardAPIVolumeFile[] | undefined;
}

export interface DownwardAPIVolumeFile {
  readonly fieldRef?: ObjectFieldSelector | undefined;
  readonly mode?: number | undefined;
  readonly path?: string | undefined;
  readonly resourceFieldRef?: ResourceFieldSelector | undefined;
  readonly user?: number | undefined;
}

export interface DownwardAPIVolumeSource {
  readonly defaultMode?: number | undefined;
  readonly defaultUser?: number | undefined;
  readonly items?: readonly DownwardAPIVolumeFile[] | undefined;
}

export interface EmptyDirVolumeSource {
  readonly medium?: string | undefined;
  readonly mode?: number | undefined;
  readonly sizeLimit?: string | undefined;
}

export interface Endpoint {
  readonly addresses?: readonly string[] | undefined;
  readonly conditions?: EndpointConditions | undefined;
  readonly deprecatedTopology?: Readonly<Record<string, string>> | undefined;
  readonly hints?: EndpointHints | undefined;
  readonly hostname?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly targetRef?: ObjectReference | undefined;
  readonly zone?: string | undefined;
}

export interface EndpointConditions {
  readonly ready?: boolean | undefined;
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
}

export interface EndpointHints {
  readonly forNodes?: readonly ForNode[] | undefined;
  readonly forZones?: readonly ForZone[] | undefined;
}

export interface EndpointPort {
  readonly appProtocol?: string | undefined;
  readonly name?: string | undefined;
  readonly port?: number | undefined;
  readonly protocol?: string | undefined;
}

export interface EndpointSliceObject extends KubeObject {
  readonly addressType?: string | undefined;
  readonly endpoints?: readonly Endpoint[] | undefined;
  readonly ports?: readonly EndpointPort[] | undefined;
}

export interface EnvFromSource {
  readonly configMapRef?: ConfigMapEnvSource | undefined;
  readonly prefix?: string | undefined;
  readonly secretRef?: SecretEnvSource | undefined;
}

export interface EnvVar {
  readonly name?: string | undefined;
  readonly value?: string | undefined;
  readonly valueFrom?: EnvVarSource | undefined;
}

export interface EnvVarSource {
  readonly configMapKeyRef?: ConfigMapKeySelector | undefined;
  readonly fieldRef?: ObjectFieldSelector | undefined;
  readonly fileKeyRef?: FileKeySelector | undefined;
  readonly resourceFieldRef?: ResourceFieldSelector | undefined;
  readonly secretKeyRef?: SecretKeySelector | undefined;
}

export interface EphemeralContainer {
  readonly args?: readonly string[] | undefined;
  readonly command?: readonly string[] | undefined;
  readonly env?: readonly EnvVar[] | undefined;
  readonly envFrom?: readonly EnvFromSource[] | undefined;
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
  readonly lifecycle?: Lifecycle | undefined;
  readonly livenessProbe?: Probe | undefined;
  readonly name?: string | undefined;
  readonly ports?: readonly ContainerPort[] | undefined;
  readonly readinessProbe?: Probe | undefined;
  readonly resizePolicy?: readonly ContainerResizePolicy[] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: readonly ContainerRestartRule[] | undefined;
  readonly securityContext?: SecurityContext | undefined;
  readonly startupProbe?: Probe | undefined;
  readonly stdin?: boolean | undefined;
  readonly stdinOnce?: boolean | undefined;
  readonly targetContainerName?: string | undefined;
  readonly terminationMessagePath?: string | undefined;
  readonly terminationMessagePolicy?: string | undefined;
  readonly tty?: boolean | undefined;
  readonly volumeDevices?: readonly VolumeDevice[] | undefined;
  readonly volumeMounts?: readonly VolumeMount[] | undefined;
  readonly workingDir?: string | undefined;
}

export interface EphemeralVolumeSource {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate | undefined;
}

export interface EventObject extends KubeObject {
  readonly action?: string | undefined;
  readonly deprecatedCount?: number | undefined;
  readonly deprecatedFirstTimestamp?: string | undefined;
  readonly deprecatedLastTimestamp?: string | undefined;
  readonly deprecatedSource?: EventSource | undefined;
  readonly eventTime?: string | undefined;
  readonly note?: string | undefined;
  readonly reason?: string | undefined;
  readonly regarding?: ObjectReference | undefined;
  readonly related?: ObjectReference | undefined;
  readonly reportingController?: string | undefined;
  readonly reportingInstance?: string | undefined;
  readonly series?: EventSeries | undefined;
  readonly type?: string | undefined;
}

export interface EventSeries {
  readonly count?: number | undefined;
  readonly lastObservedTime?: string | undefined;
}

export interface EventSource {
  readonly component?: string | undefined;
  readonly host?: string | undefined;
}

export interface EvictionResponder {
  readonly name?: string | undefined;
  readonly priority?: number | undefined;
}

export interface ExecAction {
  readonly command?: readonly string[] | undefined;
}

export interface ExternalDocumentation {
  readonly description?: string | undefined;
  readonly url?: string | undefined;
}

export interface FCVolumeSource {
  readonly fsType?: string | undefined;
  readonly lun?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly targetWWNs?: readonly string[] | undefined;
  readonly wwids?: readonly string[] | undefined;
}

export interface FileKeySelector {
  readonly key?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly path?: string | undefined;
  readonly volumeName?: string | undefined;
}

export interface FlexPersistentVolumeSource {
  readonly driver?: string | undefined;
  readonly fsType?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReference | undefined;
}

export interface FlexVolumeSource {
  readonly driver?: string | undefined;
  readonly fsType?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
}

export interface FlockerVolumeSource {
  readonly datasetName?: string | undefined;
  readonly datasetUUID?: string | undefined;
}

export interface ForNode {
  readonly name?: string | undefined;
}

export interface ForZone {
  readonly name?: string | undefined;
}

export interface GCEPersistentDiskVolumeSource {
  readonly fsType?: string | undefined;
  readonly partition?: number | undefined;
  readonly pdName?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface GRPCAction {
  readonly mode?: string | undefined;
  readonly port?: number | undefined;
  readonly service?: string | undefined;
}

export interface GitRepoVolumeSource {
  readonly directory?: string | undefined;
  readonly repository?: string | undefined;
  readonly revision?: string | undefined;
}

export interface GlusterfsPersistentVolumeSource {
  readonly endpoints?: string | undefined;
  readonly endpointsNamespace?: string | undefined;
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface GlusterfsVolumeSource {
  readonly endpoints?: string | undefined;
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface HTTPGetAction {
  readonly host?: string | undefined;
  readonly httpHeaders?: readonly HTTPHeader[] | undefined;
  readonly path?: string | undefined;
  readonly port?: number | string | undefined;
  readonly protocol?: string | undefined;
  readonly scheme?: string | undefined;
}

export interface HTTPHeader {
  readonly name?: string | undefined;
  readonly value?: string | undefined;
}

export interface HTTPIngressPath {
  readonly backend?: IngressBackend | undefined;
  readonly path?: string | undefined;
  readonly pathType?: string | undefined;
}

export interface HTTPIngressRuleValue {
  readonly paths?: readonly HTTPIngressPath[] | undefined;
}

export interface HostAlias {
  readonly hostnames?: readonly string[] | undefined;
  readonly ip?: string | undefined;
}

export interface HostIP {
  readonly ip?: string | undefined;
}

export interface HostPathVolumeSource {
  readonly path?: string | undefined;
  readonly type?: string | undefined;
}

export interface ISCSIPersistentVolumeSource {
  readonly chapAuthDiscovery?: boolean | undefined;
  readonly chapAuthSession?: boolean | undefined;
  readonly fsType?: string | undefined;
  readonly initiatorName?: string | undefined;
  readonly iqn?: string | undefined;
  readonly iscsiInterface?: string | undefined;
  readonly lun?: number | undefined;
  readonly portals?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReference | undefined;
  readonly targetPortal?: string | undefined;
}

export interface ISCSIVolumeSource {
  readonly chapAuthDiscovery?: boolean | undefined;
  readonly chapAuthSession?: boolean | undefined;
  readonly fsType?: string | undefined;
  readonly initiatorName?: string | undefined;
  readonly iqn?: string | undefined;
  readonly iscsiInterface?: string | undefined;
  readonly lun?: number | undefined;
  readonly portals?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
  readonly targetPortal?: string | undefined;
}

export interface ImageVolumeSource {
  readonly pullPolicy?: string | undefined;
  readonly reference?: string | undefined;
}

export interface ImageVolumeStatus {
  readonly imageRef?: string | undefined;
}

export interface IngressBackend {
  readonly resource?: TypedLocalObjectReference | undefined;
  readonly service?: IngressServiceBackend | undefined;
}

export interface IngressLoadBalancerIngress {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
  readonly ports?: readonly IngressPortStatus[] | undefined;
}

export interface IngressLoadBalancerStatus {
  readonly ingress?: readonly IngressLoadBalancerIngress[] | undefined;
}

export interface IngressObject extends KubeObject {
  readonly spec?: IngressSpec | undefined;
  readonly status?: IngressStatus | undefined;
}

export interface IngressPortStatus {
  readonly error?: string | undefined;
  readonly port?: number | undefined;
  readonly protocol?: string | undefined;
}

export interface IngressRule {
  readonly host?: string | undefined;
  readonly http?: HTTPIngressRuleValue | undefined;
}

export interface IngressServiceBackend {
  readonly name?: string | undefined;
  readonly port?: ServiceBackendPort | undefined;
}

export interface IngressSpec {
  readonly defaultBackend?: IngressBackend | undefined;
  readonly ingressClassName?: string | undefined;
  readonly rules?: readonly IngressRule[] | undefined;
  readonly tls?: readonly IngressTLS[] | undefined;
}

export interface IngressStatus {
  readonly loadBalancer?: IngressLoadBalancerStatus | undefined;
}

export interface IngressTLS {
  readonly hosts?: readonly string[] | undefined;
  readonly secretName?: string | undefined;
}

export interface JSONSchemaProps {
  readonly '$ref'?: string | undefined;
  readonly '$schema'?: string | undefined;
  readonly additionalItems?: unknown | undefined;
  readonly additionalProperties?: unknown | undefined;
  readonly allOf?: readonly JSONSchemaProps[] | undefined;
  readonly anyOf?: readonly JSONSchemaProps[] | undefined;
  readonly default?: unknown | undefined;
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>> | undefined;
  readonly dependencies?: Readonly<Record<string, unknown>> | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly example?: unknown | undefined;
  readonly exclusiveMaximum?: boolean | undefined;
  readonly exclusiveMinimum?: boolean | undefined;
  readonly externalDocs?: ExternalDocumentation | undefined;
  readonly format?: string | undefined;
  readonly id?: string | undefined;
  readonly items?: unknown | undefined;
  readonly maxItems?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly minLength?: number | undefined;
  readonly minProperties?: number | undefined;
  readonly minimum?: number | undefined;
  readonly multipleOf?: number | undefined;
  readonly not?: JSONSchemaProps | undefined;
  readonly nullable?: boolean | undefined;
  readonly oneOf?: readonly JSONSchemaProps[] | undefined;
  readonly pattern?: string | undefined;
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>> | undefined;
  readonly properties?: Readonly<Record<string, JSONSchemaProps>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  readonly uniqueItems?: boolean | undefined;
  readonly 'x-kubernetes-embedded-resource'?: boolean | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
  readonly 'x-kubernetes-list-type'?: string | undefined;
  readonly 'x-kubernetes-map-type'?: string | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[] | undefined;
}

export interface KeyToPath {
  readonly key?: string | undefined;
  readonly mode?: number | undefined;
  readonly path?: string | undefined;
  readonly user?: number | undefined;
}

export interface LabelSelector {
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
}

export interface LabelSelectorRequirement {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec | undefined;
}

export interface LeaseSpec {
  readonly acquireTime?: string | undefined;
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly leaseTransitions?: number | undefined;
  readonly preferredHolder?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly strategy?: string | undefined;
}

export interface Lifecycle {
  readonly postStart?: LifecycleHandler | undefined;
  readonly preStop?: LifecycleHandler | undefined;
  readonly stopSignal?: string | undefined;
}

export interface LifecycleHandler {
  readonly exec?: ExecAction | undefined;
  readonly httpGet?: HTTPGetAction | undefined;
  readonly sleep?: SleepAction | undefined;
  readonly tcpSocket?: TCPSocketAction | undefined;
}

export interface LinuxContainerUser {
  readonly gid?: number | undefined;
  readonly supplementalGroups?: readonly number[] | undefined;
  readonly uid?: number | undefined;
}

export interface LoadBalancerIngress {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
  readonly ipMode?: string | undefined;
  readonly ports?: readonly PortStatus[] | undefined;
}

export interface LoadBalancerStatus {
  readonly ingress?: readonly LoadBalancerIngress[] | undefined;
}

export interface LocalObjectReference {
  readonly name?: string | undefined;
}

export interface LocalVolumeSource {
  readonly fsType?: string | undefined;
  readonly path?: string | undefined;
}

export interface MatchCondition {
  readonly expression?: string | undefined;
  readonly name?: string | undefined;
}

export interface ModifyVolumeStatus {
  readonly status?: string | undefined;
  readonly targetVolumeAttributesClassName?: string | undefined;
}

export interface NFSVolumeSource {
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly server?: string | undefined;
}

export interface NodeAddress {
  readonly address?: string | undefined;
  readonly type?: string | undefined;
}

export interface NodeAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | undefined;
}

export interface NodeAllocatableMappedResources {
  readonly name?: string | undefined;
  readonly quantity?: string | undefined;
}

export interface NodeAllocatableOverheadResources {
  readonly name?: string | undefined;
  readonly perContainer?: string | undefined;
  readonly perPod?: string | undefined;
}

export interface NodeAllocatableResourceClaimStatus {
  readonly containers?: readonly string[] | undefined;
  readonly mapping?: readonly NodeAllocatableMappedResources[] | undefined;
  readonly overhead?: readonly NodeAllocatableOverheadResources[] | undefined;
  readonly resourceClaimName?: string | undefined;
}

export interface NodeCondition {
  readonly lastHeartbeatTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface NodeConfigSource {
  readonly configMap?: ConfigMapNodeConfigSource | undefined;
}

export interface NodeConfigStatus {
  readonly active?: NodeConfigSource | undefined;
  readonly assigned?: NodeConfigSource | undefined;
  readonly error?: string | undefined;
  readonly lastKnownGood?: NodeConfigSource | undefined;
}

export interface NodeDaemonEndpoints {
  readonly kubeletEndpoint?: DaemonEndpoint | undefined;
}

export interface NodeFeatures {
  readonly supplementalGroupsPolicy?: boolean | undefined;
}

export interface NodeObject extends KubeObject {
  readonly spec?: NodeSpec | undefined;
  readonly status?: NodeStatus | undefined;
}

export interface NodePodPreemptionPolicy {
  readonly disableResizePreemption?: readonly string[] | undefined;
}

export interface NodeRuntimeHandler {
  readonly features?: NodeRuntimeHandlerFeatures | undefined;
  readonly name?: string | undefined;
}

export interface NodeRuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts?: boolean | undefined;
  readonly userNamespaces?: boolean | undefined;
}

export interface NodeSelector {
  readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] | undefined;
}

export interface NodeSelectorRequirement {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[] | undefined;
  readonly matchFields?: readonly NodeSelectorRequirement[] | undefined;
}

export interface NodeSpec {
  readonly configSource?: NodeConfigSource | undefined;
  readonly externalID?: string | undefined;
  readonly podCIDR?: string | undefined;
  readonly podCIDRs?: readonly string[] | undefined;
  readonly podPreemptionPolicy?: NodePodPreemptionPolicy | undefined;
  readonly providerID?: string | undefined;
  readonly taints?: readonly Taint[] | undefined;
  readonly unschedulable?: boolean | undefined;
}

export interface NodeStatus {
  readonly addresses?: readonly NodeAddress[] | undefined;
  readonly allocatable?: Readonly<Record<string, string>> | undefined;
  readonly capacity?: Readonly<Record<string, string>> | undefined;
  readonly conditions?: readonly NodeCondition[] | undefined;
  readonly config?: NodeConfigStatus | undefined;
  readonly daemonEndpoints?: NodeDaemonEndpoints | undefined;
  readonly declaredFeatures?: readonly string[] | undefined;
  readonly features?: NodeFeatures | undefined;
  readonly images?: readonly ContainerImage[] | undefined;
  readonly nodeInfo?: NodeSystemInfo | undefined;
  readonly phase?: string | undefined;
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[] | undefined;
  readonly volumesAttached?: readonly AttachedVolume[] | undefined;
  readonly volumesInUse?: readonly string[] | undefined;
}

export interface NodeSwapStatus {
  readonly capacity?: number | undefined;
}

export interface NodeSystemInfo {
  readonly architecture?: string | undefined;
  readonly bootID?: string | undefined;
  readonly containerRuntimeVersion?: string | undefined;
  readonly kernelVersion?: string | undefined;
  readonly kubeProxyVersion?: string | undefined;
  readonly kubeletVersion?: string | undefined;
  readonly machineID?: string | undefined;
  readonly operatingSystem?: string | undefined;
  readonly osImage?: string | undefined;
  readonly runningInUserNamespace?: boolean | undefined;
  readonly swap?: NodeSwapStatus | undefined;
  readonly systemUUID?: string | undefined;
}

export interface ObjectFieldSelector {
  readonly apiVersion?: string | undefined;
  readonly fieldPath?: string | undefined;
}

export interface ObjectReference {
  readonly apiVersion?: string | undefined;
  readonly fieldPath?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly uid?: string | undefined;
}

export interface PersistentVolumeClaim {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: Partial<ObjectMeta> | undefined;
  readonly spec?: PersistentVolumeClaimSpec | undefined;
  readonly status?: PersistentVolumeClaimStatus | undefined;
}

export interface PersistentVolumeClaimCondition {
  readonly lastProbeTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface PersistentVolumeClaimObject extends KubeObject {
  readonly spec?: PersistentVolumeClaimSpec | undefined;
  readonly status?: PersistentVolumeClaimStatus | undefined;
}

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly string[] | undefined;
  readonly dataSource?: TypedLocalObjectReference | undefined;
  readonly dataSourceRef?: TypedObjectReference | undefined;
  readonly resources?: VolumeResourceRequirements | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly storageClassName?: string | undefined;
  readonly volumeAttributesClassName?: string | undefined;
  readonly volumeMode?: string | undefined;
  readonly volumeName?: string | undefined;
}

export interface PersistentVolumeClaimStatus {
  readonly accessModes?: readonly string[] | undefined;
  readonly allocatedResourceStatuses?: Readonly<Record<string, string>> | undefined;
  readonly allocatedResources?: Readonly<Record<string, string>> | undefined;
  readonly capacity?: Readonly<Record<string, string>> | undefined;
  readonly conditions?: readonly PersistentVolumeClaimCondition[] | undefined;
  readonly currentVolumeAttributesClassName?: string | undefined;
  readonly healthStatus?: VolumeHealthStatus | undefined;
  readonly modifyVolumeStatus?: ModifyVolumeStatus | undefined;
  readonly phase?: string | undefined;
}

export interface PersistentVolumeClaimTemplate {
  readonly metadata?: Partial<ObjectMeta> | undefined;
  readonly spec?: PersistentVolumeClaimSpec | undefined;
}

export interface PersistentVolumeClaimVolumeSource {
  readonly claimName?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface PersistentVolumeObject extends KubeObject {
  readonly spec?: PersistentVolumeSpec | undefined;
  readonly status?: PersistentVolumeStatus | undefined;
}

export interface PersistentVolumeSpec {
  readonly accessModes?: readonly string[] | undefined;
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource | undefined;
  readonly azureDisk?: AzureDiskVolumeSource | undefined;
  readonly azureFile?: AzureFilePersistentVolumeSource | undefined;
  readonly capacity?: Readonly<Record<string, string>> | undefined;
  readonly cephfs?: CephFSPersistentVolumeSource | undefined;
  readonly cinder?: CinderPersistentVolumeSource | undefined;
  readonly claimRef?: ObjectReference | undefined;
  readonly csi?: CSIPersistentVolumeSource | undefined;
  readonly fc?: FCVolumeSource | undefined;
  readonly flexVolume?: FlexPersistentVolumeSource | undefined;
  readonly flocker?: FlockerVolumeSource | undefined;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource | undefined;
  readonly glusterfs?: GlusterfsPersistentVolumeSource | undefined;
  readonly hostPath?: HostPathVolumeSource | undefined;
  readonly iscsi?: ISCSIPersistentVolumeSource | undefined;
  readonly local?: LocalVolumeSource | undefined;
  readonly mountOptions?: readonly string[] | undefined;
  readonly nfs?: NFSVolumeSource | undefined;
  readonly nodeAffinity?: VolumeNodeAffinity | undefined;
  readonly persistentVolumeReclaimPolicy?: string | undefined;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource | undefined;
  readonly portworxVolume?: PortworxVolumeSource | undefined;
  readonly quobyte?: QuobyteVolumeSource | undefined;
  readonly rbd?: RBDPersistentVolumeSource | undefined;
  readonly scaleIO?: ScaleIOPersistentVolumeSource | undefined;
  readonly storageClassName?: string | undefined;
  readonly storageos?: StorageOSPersistentVolumeSource | undefined;
  readonly volumeAttributesClassName?: string | undefined;
  readonly volumeMode?: string | undefined;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource | undefined;
}

export interface PersistentVolumeStatus {
  readonly lastPhaseTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
}

export interface PhotonPersistentDiskVolumeSource {
  readonly fsType?: string | undefined;
  readonly pdID?: string | undefined;
}

export interface PodAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | undefined;
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly topologyKey?: string | undefined;
}

export interface PodAntiAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | undefined;
}

export interface PodCertificateProjection {
  readonly certificateChainPath?: string | undefined;
  readonly credentialBundlePath?: string | undefined;
  readonly keyPath?: string | undefined;
  readonly keyType?: string | undefined;
  readonly maxExpirationSeconds?: number | undefined;
  readonly signerName?: string | undefined;
  readonly user?: number | undefined;
  readonly userAnnotations?: Readonly<Record<string, string>> | undefined;
}

export interface PodCondition {
  readonly lastProbeTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface PodDNSConfig {
  readonly nameservers?: readonly string[] | undefined;
  readonly options?: readonly PodDNSConfigOption[] | undefined;
  readonly searches?: readonly string[] | undefined;
}

export interface PodDNSConfigOption {
  readonly name?: string | undefined;
  readonly value?: string | undefined;
}

export interface PodExtendedResourceClaimStatus {
  readonly requestMappings?: readonly ContainerExtendedResourceRequest[] | undefined;
  readonly resourceClaimName?: string | undefined;
}

export interface PodIP {
  readonly ip?: string | undefined;
}

export interface PodOS {
  readonly name?: string | undefined;
}

export interface PodObject extends KubeObject {
  readonly spec?: PodSpec | undefined;
  readonly status?: PodStatus | undefined;
}

export interface PodReadinessGate {
  readonly conditionType?: string | undefined;
}

export interface PodResourceClaim {
  readonly name?: string | undefined;
  readonly resourceClaimName?: string | undefined;
  readonly resourceClaimTemplateName?: string | undefined;
}

export interface PodResourceClaimStatus {
  readonly name?: string | undefined;
  readonly resourceClaimName?: string | undefined;
}

export interface PodSchedulingGate {
  readonly name?: string | undefined;
}

export interface PodSchedulingGroup {
  readonly podGroupName?: string | undefined;
}

export interface PodSecurityContext {
  readonly appArmorProfile?: AppArmorProfile | undefined;
  readonly fsGroup?: number | undefined;
  readonly fsGroupChangePolicy?: string | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly runAsUser?: number | undefined;
  readonly seLinuxChangePolicy?: string | undefined;
  readonly seLinuxOptions?: SELinuxOptions | undefined;
  readonly seccompProfile?: SeccompProfile | undefined;
  readonly supplementalGroups?: readonly number[] | undefined;
  readonly supplementalGroupsPolicy?: string | undefined;
  readonly sysctls?: readonly Sysctl[] | undefined;
  readonly windowsOptions?: WindowsSecurityContextOptions | undefined;
}

export interface PodSpec {
  readonly activeDeadlineSeconds?: number | undefined;
  readonly affinity?: Affinity | undefined;
  readonly automountServiceAccountToken?: boolean | undefined;
  readonly containers?: readonly Container[] | undefined;
  readonly dnsConfig?: PodDNSConfig | undefined;
  readonly dnsPolicy?: string | undefined;
  readonly enableServiceLinks?: boolean | undefined;
  readonly ephemeralContainers?: readonly EphemeralContainer[] | undefined;
  readonly evictionResponders?: readonly EvictionResponder[] | undefined;
  readonly hostAliases?: readonly HostAlias[] | undefined;
  readonly hostIPC?: boolean | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly hostPID?: boolean | undefined;
  readonly hostUsers?: boolean | undefined;
  readonly hostname?: string | undefined;
  readonly hostnameOverride?: string | undefined;
  readonly imagePullSecrets?: readonly LocalObjectReference[] | undefined;
  readonly initContainers?: readonly Container[] | undefined;
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly os?: PodOS | undefined;
  readonly overhead?: Readonly<Record<string, string>> | undefined;
  readonly preemptionPolicy?: string | undefined;
  readonly priority?: number | undefined;
  readonly priorityClassName?: string | undefined;
  readonly readinessGates?: readonly PodReadinessGate[] | undefined;
  readonly resourceClaims?: readonly PodResourceClaim[] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly restartPolicy?: string | undefined;
  readonly runtimeClassName?: string | undefined;
  readonly schedulerName?: string | undefined;
  readonly schedulingGates?: readonly PodSchedulingGate[] | undefined;
  readonly schedulingGroup?: PodSchedulingGroup | undefined;
  readonly securityContext?: PodSecurityContext | undefined;
  readonly serviceAccount?: string | undefined;
  readonly serviceAccountName?: string | undefined;
  readonly setHostnameAsFQDN?: boolean | undefined;
  readonly shareProcessNamespace?: boolean | undefined;
  readonly subdomain?: string | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[] | undefined;
  readonly volumes?: readonly Volume[] | undefined;
}

export interface PodStatus {
  readonly allocatedResources?: Readonly<Record<string, string>> | undefined;
  readonly conditions?: readonly PodCondition[] | undefined;
  readonly containerStatuses?: readonly ContainerStatus[] | undefined;
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[] | undefined;
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus | undefined;
  readonly hostIP?: string | undefined;
  readonly hostIPs?: readonly HostIP[] | undefined;
  readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
  readonly message?: string | undefined;
  readonly nodeAllocatableResourceClaimStatuses?: readonly NodeAllocatableResourceClaimStatus[] | undefined;
  readonly nominatedNodeName?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly phase?: string | undefined;
  readonly podIP?: string | undefined;
  readonly podIPs?: readonly PodIP[] | undefined;
  readonly qosClass?: string | undefined;
  readonly reason?: string | undefined;
  readonly resize?: string | undefined;
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[] | undefined;
  readonly resources?: ResourceRequirements | undefined;
  readonly startTime?: string | undefined;
  readonly volumeHealth?: readonly PodVolumeHealth[] | undefined;
}

export interface PodTemplateSpec {
  readonly metadata?: Partial<ObjectMeta> | undefined;
  readonly spec?: PodSpec | undefined;
}

export interface PodVolumeHealth {
  readonly healthConditions?: readonly VolumeHealthCondition[] | undefined;
  readonly lastTransitionTime?: string | undefined;
  readonly name?: string | undefined;
}

export interface PortStatus {
  readonly error?: string | undefined;
  readonly port?: number | undefined;
  readonly protocol?: string | undefined;
}

export interface PortworxVolumeSource {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeID?: string | undefined;
}

export interface PreferredSchedulingTerm {
  readonly preference?: NodeSelectorTerm | undefined;
  readonly weight?: number | undefined;
}

export interface Probe {
  readonly exec?: ExecAction | undefined;
  readonly failureThreshold?: number | undefined;
  readonly grpc?: GRPCAction | undefined;
  readonly httpGet?: HTTPGetAction | undefined;
  readonly initialDelaySeconds?: number | undefined;
  readonly periodSeconds?: number | undefined;
  readonly successThreshold?: number | undefined;
  readonly tcpSocket?: TCPSocketAction | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface ProjectedVolumeSource {
  readonly defaultMode?: number | undefined;
  readonly defaultUser?: number | undefined;
  readonly sources?: readonly VolumeProjection[] | undefined;
}

export interface QuobyteVolumeSource {
  readonly group?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly registry?: string | undefined;
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly volume?: string | undefined;
}

export interface RBDPersistentVolumeSource {
  readonly fsType?: string | undefined;
  readonly image?: string | undefined;
  readonly keyring?: string | undefined;
  readonly monitors?: readonly string[] | undefined;
  readonly pool?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReference | undefined;
  readonly user?: string | undefined;
}

export interface RBDVolumeSource {
  readonly fsType?: string | undefined;
  readonly image?: string | undefined;
  readonly keyring?: string | undefined;
  readonly monitors?: readonly string[] | undefined;
  readonly pool?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
  readonly user?: string | undefined;
}

export interface ResourceClaim {
  readonly name?: string | undefined;
  readonly request?: string | undefined;
}

export interface ResourceFieldSelector {
  readonly containerName?: string | undefined;
  readonly divisor?: string | undefined;
  readonly resource?: string | undefined;
}

export interface ResourceHealth {
  readonly health?: string | undefined;
  readonly message?: string | undefined;
  readonly resourceID?: string | undefined;
}

export interface ResourceQuotaObject extends KubeObject {
  readonly spec?: ResourceQuotaSpec | undefined;
  readonly status?: ResourceQuotaStatus | undefined;
}

export interface ResourceQuotaSpec {
  readonly hard?: Readonly<Record<string, string>> | undefined;
  readonly scopeSelector?: ScopeSelector | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export interface ResourceQuotaStatus {
  readonly hard?: Readonly<Record<string, string>> | undefined;
  readonly used?: Readonly<Record<string, string>> | undefined;
}

export interface ResourceRequirements {
  readonly claims?: readonly ResourceClaim[] | undefined;
  readonly limits?: Readonly<Record<string, string>> | undefined;
  readonly requests?: Readonly<Record<string, string>> | undefined;
}

export interface ResourceStatus {
  readonly name?: string | undefined;
  readonly resources?: readonly ResourceHealth[] | undefined;
}

export interface RollingUpdateDaemonSet {
  readonly maxSurge?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

export interface RollingUpdateDeployment {
  readonly maxSurge?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly maxUnavailable?: number | string | undefined;
  readonly partition?: number | undefined;
}

export interface RuleWithOperations {
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly operations?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly scope?: string | undefined;
}

export interface SELinuxOptions {
  readonly level?: string | undefined;
  readonly role?: string | undefined;
  readonly type?: string | undefined;
  readonly user?: string | undefined;
}

export interface ScaleIOPersistentVolumeSource {
  readonly fsType?: string | undefined;
  readonly gateway?: string | undefined;
  readonly protectionDomain?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReference | undefined;
  readonly sslEnabled?: boolean | undefined;
  readonly storageMode?: string | undefined;
  readonly storagePool?: string | undefined;
  readonly system?: string | undefined;
  readonly volumeName?: string | undefined;
}

export interface ScaleIOVolumeSource {
  readonly fsType?: string | undefined;
  readonly gateway?: string | undefined;
  readonly protectionDomain?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
  readonly sslEnabled?: boolean | undefined;
  readonly storageMode?: string | undefined;
  readonly storagePool?: string | undefined;
  readonly system?: string | undefined;
  readonly volumeName?: string | undefined;
}

export interface ScopeSelector {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirement[] | undefined;
}

export interface ScopedResourceSelectorRequirement {
  readonly operator?: string | undefined;
  readonly scopeName?: string | undefined;
  readonly values?: readonly string[] | undefined;
}

export interface SeccompProfile {
  readonly localhostProfile?: string | undefined;
  readonly type?: string | undefined;
}

export interface SecretEnvSource {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface SecretKeySelector {
  readonly key?: string | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly immutable?: boolean | undefined;
  readonly stringData?: Readonly<Record<string, string>> | undefined;
  readonly type?: string | undefined;
}

export interface SecretProjection {
  readonly items?: readonly KeyToPath[] | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface SecretReference {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface SecretVolumeSource {
  readonly defaultMode?: number | undefined;
  readonly defaultUser?: number | undefined;
  readonly items?: readonly KeyToPath[] | undefined;
  readonly optional?: boolean | undefined;
  readonly secretName?: string | undefined;
}

export interface SecurityContext {
  readonly allowPrivilegeEscalation?: boolean | undefined;
  readonly appArmorProfile?: AppArmorProfile | undefined;
  readonly capabilities?: Capabilities | undefined;
  readonly privileged?: boolean | undefined;
  readonly procMount?: string | undefined;
  readonly readOnlyRootFilesystem?: boolean | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly runAsUser?: number | undefined;
  readonly seLinuxOptions?: SELinuxOptions | undefined;
  readonly seccompProfile?: SeccompProfile | undefined;
  readonly windowsOptions?: WindowsSecurityContextOptions | undefined;
}

export interface SelectableField {
  readonly jsonPath?: string | undefined;
}

export interface ServiceAccountTokenProjection {
  readonly audience?: string | undefined;
  readonly expirationSeconds?: number | undefined;
  readonly path?: string | undefined;
  readonly user?: number | undefined;
}

export interface ServiceBackendPort {
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

export interface ServiceCIDRObject extends KubeObject {
  readonly spec?: ServiceCIDRSpec | undefined;
  readonly status?: ServiceCIDRStatus | undefined;
}

export interface ServiceCIDRSpec {
  readonly cidrs?: readonly string[] | undefined;
}

export interface ServiceCIDRStatus {
  readonly conditions?: readonly Condition[] | undefined;
}

export interface ServiceObject extends KubeObject {
  readonly spec?: ServiceSpec | undefined;
  readonly status?: ServiceStatus | undefined;
}

export interface ServicePort {
  readonly appProtocol?: string | undefined;
  readonly name?: string | undefined;
  readonly nodePort?: number | undefined;
  readonly port?: number | undefined;
  readonly protocol?: string | undefined;
  readonly targetPort?: number | string | undefined;
}

export interface ServiceReference {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface ServiceSpec {
  readonly allocateLoadBalancerNodePorts?: boolean | undefined;
  readonly clusterIP?: string | undefined;
  readonly clusterIPs?: readonly string[] | undefined;
  readonly externalIPs?: readonly string[] | undefined;
  readonly externalName?: string | undefined;
  readonly externalTrafficPolicy?: string | undefined;
  readonly healthCheckNodePort?: number | undefined;
  readonly internalTrafficPolicy?: string | undefined;
  readonly ipFamilies?: readonly string[] | undefined;
  readonly ipFamilyPolicy?: string | undefined;
  readonly loadBalancerClass?: string | undefined;
  readonly loadBalancerIP?: string | undefined;
  readonly loadBalancerSourceRanges?: readonly string[] | undefined;
  readonly ports?: readonly ServicePort[] | undefined;
  readonly publishNotReadyAddresses?: boolean | undefined;
  readonly selector?: Readonly<Record<string, string>> | undefined;
  readonly sessionAffinity?: string | undefined;
  readonly sessionAffinityConfig?: SessionAffinityConfig | undefined;
  readonly trafficDistribution?: string | undefined;
  readonly type?: string | undefined;
}

export interface ServiceStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly loadBalancer?: LoadBalancerStatus | undefined;
}

export interface SessionAffinityConfig {
  readonly clientIP?: ClientIPConfig | undefined;
}

export interface SleepAction {
  readonly seconds?: number | undefined;
}

export interface StatefulSetCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface StatefulSetObject extends KubeObject {
  readonly spec?: StatefulSetSpec | undefined;
  readonly status?: StatefulSetStatus | undefined;
}

export interface StatefulSetOrdinals {
  readonly start?: number | undefined;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string | undefined;
  readonly whenScaled?: string | undefined;
}

export interface StatefulSetSpec {
  readonly minReadySeconds?: number | undefined;
  readonly ordinals?: StatefulSetOrdinals | undefined;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined;
  readonly podManagementPolicy?: string | undefined;
  readonly replicas?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly serviceName?: string | undefined;
  readonly template?: PodTemplateSpec | undefined;
  readonly updateStrategy?: StatefulSetUpdateStrategy | undefined;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[] | undefined;
}

export interface StatefulSetStatus {
  readonly availableReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly StatefulSetCondition[] | undefined;
  readonly currentReplicas?: number | undefined;
  readonly currentRevision?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas?: number | undefined;
  readonly updateRevision?: string | undefined;
  readonly updatedReplicas?: number | undefined;
}

export interface StatefulSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy | undefined;
  readonly type?: string | undefined;
}

export interface StorageOSPersistentVolumeSource {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: ObjectReference | undefined;
  readonly volumeName?: string | undefined;
  readonly volumeNamespace?: string | undefined;
}

export interface StorageOSVolumeSource {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReference | undefined;
  readonly volumeName?: string | undefined;
  readonly volumeNamespace?: string | undefined;
}

export interface Sysctl {
  readonly name?: string | undefined;
  readonly value?: string | undefined;
}

export interface TCPSocketAction {
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
}

export interface Taint {
  readonly effect?: string | undefined;
  readonly key?: string | undefined;
  readonly timeAdded?: string | undefined;
  readonly value?: string | undefined;
}

export interface Toleration {
  readonly effect?: string | undefined;
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly tolerationSeconds?: number | undefined;
  readonly value?: string | undefined;
}

export interface TopologySpreadConstraint {
  readonly labelSelector?: LabelSelector | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly maxSkew?: number | undefined;
  readonly minDomains?: number | undefined;
  readonly nodeAffinityPolicy?: string | undefined;
  readonly nodeTaintsPolicy?: string | undefined;
  readonly topologyKey?: string | undefined;
  readonly whenUnsatisfiable?: string | undefined;
}

export interface TypedLocalObjectReference {
  readonly apiGroup?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
}

export interface TypedObjectReference {
  readonly apiGroup?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface ValidatingWebhook {
  readonly admissionReviewVersions?: readonly string[] | undefined;
  readonly clientConfig?: WebhookClientConfig | undefined;
  readonly failurePolicy?: string | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchPolicy?: string | undefined;
  readonly name?: string | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  readonly rules?: readonly RuleWithOperations[] | undefined;
  readonly sideEffects?: string | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface ValidatingWebhookConfigurationObject extends KubeObject {
  readonly webhooks?: readonly ValidatingWebhook[] | undefined;
}

export interface ValidationRule {
  readonly fieldPath?: string | undefined;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
  readonly optionalOldSelf?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly rule?: string | undefined;
}

export interface Volume {
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource | undefined;
  readonly azureDisk?: AzureDiskVolumeSource | undefined;
  readonly azureFile?: AzureFileVolumeSource | undefined;
  readonly cephfs?: CephFSVolumeSource | undefined;
  readonly cinder?: CinderVolumeSource | undefined;
  readonly configMap?: ConfigMapVolumeSource | undefined;
  readonly csi?: CSIVolumeSource | undefined;
  readonly downwardAPI?: DownwardAPIVolumeSource | undefined;
  readonly emptyDir?: EmptyDirVolumeSource | undefined;
  readonly ephemeral?: EphemeralVolumeSource | undefined;
  readonly fc?: FCVolumeSource | undefined;
  readonly flexVolume?: FlexVolumeSource | undefined;
  readonly flocker?: FlockerVolumeSource | undefined;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource | undefined;
  readonly gitRepo?: GitRepoVolumeSource | undefined;
  readonly glusterfs?: GlusterfsVolumeSource | undefined;
  readonly hostPath?: HostPathVolumeSource | undefined;
  readonly image?: ImageVolumeSource | undefined;
  readonly iscsi?: ISCSIVolumeSource | undefined;
  readonly name?: string | undefined;
  readonly nfs?: NFSVolumeSource | undefined;
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSource | undefined;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource | undefined;
  readonly portworxVolume?: PortworxVolumeSource | undefined;
  readonly projected?: ProjectedVolumeSource | undefined;
  readonly quobyte?: QuobyteVolumeSource | undefined;
  readonly rbd?: RBDVolumeSource | undefined;
  readonly scaleIO?: ScaleIOVolumeSource | undefined;
  readonly secret?: SecretVolumeSource | undefined;
  readonly storageos?: StorageOSVolumeSource | undefined;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource | undefined;
}

export interface VolumeDevice {
  readonly devicePath?: string | undefined;
  readonly name?: string | undefined;
}

export interface VolumeHealthCondition {
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
}

export interface VolumeHealthStatus {
  readonly healthConditions?: readonly VolumeHealthCondition[] | undefined;
  readonly lastTransitionTime?: string | undefined;
}

export interface VolumeMount {
  readonly bindMountOptions?: readonly string[] | undefined;
  readonly mountPath?: string | undefined;
  readonly mountPropagation?: string | undefined;
  readonly name?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly recursiveReadOnly?: string | undefined;
  readonly subPath?: string | undefined;
  readonly subPathExpr?: string | undefined;
}

export interface VolumeMountStatus {
  readonly mountPath?: string | undefined;
  readonly name?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly recursiveReadOnly?: string | undefined;
  readonly volumeStatus?: VolumeStatus | undefined;
}

export interface VolumeNodeAffinity {
  readonly required?: NodeSelector | undefined;
}

export interface VolumeProjection {
  readonly clusterTrustBundle?: ClusterTrustBundleProjection | undefined;
  readonly configMap?: ConfigMapProjection | undefined;
  readonly downwardAPI?: DownwardAPIProjection | undefined;
  readonly podCertificate?: PodCertificateProjection | undefined;
  readonly secret?: SecretProjection | undefined;
  readonly serviceAccountToken?: ServiceAccountTokenProjection | undefined;
}

export interface VolumeResourceRequirements {
  readonly limits?: Readonly<Record<string, string>> | undefined;
  readonly requests?: Readonly<Record<string, string>> | undefined;
}

export interface VolumeStatus {
  readonly image?: ImageVolumeStatus | undefined;
}

export interface VsphereVirtualDiskVolumeSource {
  readonly fsType?: string | undefined;
  readonly storagePolicyID?: string | undefined;
  readonly storagePolicyName?: string | undefined;
  readonly volumePath?: string | undefined;
}

export interface WebhookClientConfig {
  readonly caBundle?: string | undefined;
  readonly service?: ServiceReference | undefined;
  readonly url?: string | undefined;
}

export interface WebhookConversion {
  readonly clientConfig?: ApiextensionsWebhookClientConfig | undefined;
  readonly conversionReviewVersions?: readonly string[] | undefined;
}

export interface WeightedPodAffinityTerm {
  readonly podAffinityTerm?: PodAffinityTerm | undefined;
  readonly weight?: number | undefined;
}

export interface WindowsSecurityContextOptions {
  readonly gmsaCredentialSpec?: string | undefined;
  readonly gmsaCredentialSpecName?: string | undefined;
  readonly hostProcess?: boolean | undefined;
  readonly runAsUserName?: string | undefined;
}
