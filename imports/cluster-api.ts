// sigs.k8s.io/cluster-api v1.14.2 of test/tools/testbed/go/cluster-api: written by npm run import
import type { KubeObject } from '../reconciler/kube/object.ts';

export interface ClusterObject extends KubeObject {
  readonly spec?: {
    readonly availabilityGates?: readonly ({
      readonly conditionType?: string | undefined;
      readonly polarity?: string | undefined;
    })[] | undefined;
    readonly clusterNetwork?: {
      readonly apiServerPort?: number | undefined;
      readonly pods?: {
        readonly cidrBlocks?: readonly string[] | undefined;
      } | undefined;
      readonly serviceDomain?: string | undefined;
      readonly services?: {
        readonly cidrBlocks?: readonly string[] | undefined;
      } | undefined;
    } | undefined;
    readonly controlPlaneEndpoint?: {
      readonly host?: string | undefined;
      readonly port?: number | undefined;
    } | undefined;
    readonly controlPlaneRef?: {
      readonly apiGroup?: string | undefined;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
    } | undefined;
    readonly infrastructureRef?: {
      readonly apiGroup?: string | undefined;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
    } | undefined;
    readonly paused?: boolean | undefined;
    readonly topology?: {
      readonly classRef?: {
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
      } | undefined;
      readonly controlPlane?: {
        readonly deletion?: {
          readonly nodeDeletionTimeoutSeconds?: number | undefined;
          readonly nodeDrainTimeoutSeconds?: number | undefined;
          readonly nodeVolumeDetachTimeoutSeconds?: number | undefined;
        } | undefined;
        readonly healthCheck?: {
          readonly checks?: {
            readonly nodeStartupTimeoutSeconds?: number | undefined;
            readonly unhealthyMachineConditions?: readonly ({
              readonly status?: string | undefined;
              readonly timeoutSeconds?: number | undefined;
              readonly type?: string | undefined;
            })[] | undefined;
            readonly unhealthyNodeConditions?: readonly ({
              readonly status?: string | undefined;
              readonly timeoutSeconds?: number | undefined;
              readonly type?: string | undefined;
            })[] | undefined;
          } | undefined;
          readonly enabled?: boolean | undefined;
          readonly remediation?: {
            readonly templateRef?: {
              readonly apiVersion?: string | undefined;
              readonly kind?: string | undefined;
              readonly name?: string | undefined;
            } | undefined;
            readonly triggerIf?: {
              readonly unhealthyInRange?: string | undefined;
              readonly unhealthyLessThanOrEqualTo?: number | string | undefined;
            } | undefined;
          } | undefined;
        } | undefined;
        readonly metadata?: {
          readonly annotations?: Readonly<Record<string, string>> | undefined;
          readonly labels?: Readonly<Record<string, string>> | undefined;
        } | undefined;
        readonly readinessGates?: readonly ({
          readonly conditionType?: string | undefined;
          readonly polarity?: string | undefined;
        })[] | undefined;
        readonly replicas?: number | undefined;
        readonly rollout?: {
          readonly after?: string | undefined;
        } | undefined;
        readonly taints?: readonly ({
          readonly effect?: string | undefined;
          readonly key?: string | undefined;
          readonly propagation?: string | undefined;
          readonly value?: string | undefined;
        })[] | undefined;
        readonly variables?: {
          readonly overrides?: readonly ({
            readonly name?: string | undefined;
            readonly value?: unknown | undefined;
          })[] | undefined;
        } | undefined;
      } | undefined;
      readonly variables?: readonly ({
        readonly name?: string | undefined;
        readonly value?: unknown | undefined;
      })[] | undefined;
      readonly version?: string | undefined;
      readonly workers?: {
        readonly machineDeployments?: readonly ({
          readonly class?: string | undefined;
          readonly deletion?: {
            readonly nodeDeletionTimeoutSeconds?: number | undefined;
            readonly nodeDrainTimeoutSeconds?: number | undefined;
            readonly nodeVolumeDetachTimeoutSeconds?: number | undefined;
            readonly order?: string | undefined;
          } | undefined;
          readonly failureDomain?: string | undefined;
          readonly healthCheck?: {
            readonly checks?: {
              readonly nodeStartupTimeoutSeconds?: number | undefined;
              readonly unhealthyMachineConditions?: readonly ({
                readonly status?: string | undefined;
                readonly timeoutSeconds?: number | undefined;
                readonly type?: string | undefined;
              })[] | undefined;
              readonly unhealthyNodeConditions?: readonly ({
                readonly status?: string | undefined;
                readonly timeoutSeconds?: number | undefined;
                readonly type?: string | undefined;
              })[] | undefined;
            } | undefined;
            readonly enabled?: boolean | undefined;
            readonly remediation?: {
              readonly maxInFlight?: number | string | undefined;
              readonly templateRef?: {
                readonly apiVersion?: string | undefined;
                readonly kind?: string | undefined;
                readonly name?: string | undefined;
              } | undefined;
              readonly triggerIf?: {
                readonly unhealthyInRange?: string | undefined;
                readonly unhealthyLessThanOrEqualTo?: number | string | undefined;
              } | undefined;
            } | undefined;
          } | undefined;
          readonly metadata?: {
            readonly annotations?: Readonly<Record<string, string>> | undefined;
            readonly labels?: Readonly<Record<string, string>> | undefined;
          } | undefined;
          readonly minReadySeconds?: number | undefined;
          readonly name?: string | undefined;
          readonly readinessGates?: readonly ({
            readonly conditionType?: string | undefined;
            readonly polarity?: string | undefined;
          })[] | undefined;
          readonly replicas?: number | undefined;
          readonly rollout?: {
            readonly after?: string | undefined;
            readonly strategy?: {
              readonly rollingUpdate?: {
                readonly maxSurge?: number | string | undefined;
                readonly maxUnavailable?: number | string | undefined;
              } | undefined;
              readonly type?: string | undefined;
            } | undefined;
          } | undefined;
          readonly taints?: readonly ({
            readonly effect?: string | undefined;
            readonly key?: string | undefined;
            readonly propagation?: string | undefined;
            readonly value?: string | undefined;
          })[] | undefined;
          readonly variables?: {
            readonly overrides?: readonly ({
              readonly name?: string | undefined;
              readonly value?: unknown | undefined;
            })[] | undefined;
          } | undefined;
        })[] | undefined;
        readonly machinePools?: readonly ({
          readonly class?: string | undefined;
          readonly deletion?: {
            readonly nodeDeletionTimeoutSeconds?: number | undefined;
            readonly nodeDrainTimeoutSeconds?: number | undefined;
            readonly nodeVolumeDetachTimeoutSeconds?: number | undefined;
          } | undefined;
          readonly failureDomains?: readonly string[] | undefined;
          readonly metadata?: {
            readonly annotations?: Readonly<Record<string, string>> | undefined;
            readonly labels?: Readonly<Record<string, string>> | undefined;
          } | undefined;
          readonly minReadySeconds?: number | undefined;
          readonly name?: string | undefined;
          readonly replicas?: number | undefined;
          readonly taints?: readonly ({
            readonly effect?: string | undefined;
            readonly key?: string | undefined;
            readonly propagation?: string | undefined;
            readonly value?: string | undefined;
          })[] | undefined;
          readonly variables?: {
            readonly overrides?: readonly ({
              readonly name?: string | undefined;
              readonly value?: unknown | undefined;
            })[] | undefined;
          } | undefined;
        })[] | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  readonly status?: {
    readonly conditions?: readonly ({
      readonly lastTransitionTime?: string | undefined;
      readonly message?: string | undefined;
      readonly observedGeneration?: number | undefined;
      readonly reason?: string | undefined;
      readonly status?: string | undefined;
      readonly type?: string | undefined;
    })[] | undefined;
    readonly controlPlane?: {
      readonly availableReplicas?: number | undefined;
      readonly desiredReplicas?: number | undefined;
      readonly readyReplicas?: number | undefined;
      readonly replicas?: number | undefined;
      readonly upToDateReplicas?: number | undefined;
      readonly upgradePlan?: readonly ({
        readonly version?: string | undefined;
      })[] | undefined;
      readonly versions?: readonly ({
        readonly replicas?: number | undefined;
        readonly version?: string | undefined;
      })[] | undefined;
    } | undefined;
    readonly deprecated?: {
      readonly v1beta1?: {
        readonly conditions?: readonly ({
          readonly lastTransitionTime?: string | undefined;
          readonly message?: string | undefined;
          readonly reason?: string | undefined;
          readonly severity?: string | undefined;
          readonly status?: string | undefined;
          readonly type?: string | undefined;
        })[] | undefined;
        readonly failureMessage?: string | undefined;
        readonly failureReason?: string | undefined;
      } | undefined;
    } | undefined;
    readonly failureDomains?: readonly ({
      readonly attributes?: Readonly<Record<string, string>> | undefined;
      readonly controlPlane?: boolean | undefined;
      readonly name?: string | undefined;
    })[] | undefined;
    readonly initialization?: {
      readonly controlPlaneInitialized?: boolean | undefined;
      readonly infrastructureProvisioned?: boolean | undefined;
    } | undefined;
    readonly observedGeneration?: number | undefined;
    readonly phase?: string | undefined;
    readonly workers?: {
      readonly availableReplicas?: number | undefined;
      readonly desiredReplicas?: number | undefined;
      readonly readyReplicas?: number | undefined;
      readonly replicas?: number | undefined;
      readonly upToDateReplicas?: number | undefined;
      readonly upgradePlan?: readonly ({
        readonly version?: string | undefined;
      })[] | undefined;
      readonly versions?: readonly ({
        readonly replicas?: number | undefined;
        readonly version?: string | undefined;
      })[] | undefined;
    } | undefined;
  } | undefined;
}

export interface MachineDeploymentObject extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string | undefined;
    readonly deletion?: {
      readonly order?: string | undefined;
    } | undefined;
    readonly machineNaming?: {
      readonly template?: string | undefined;
    } | undefined;
    readonly paused?: boolean | undefined;
    readonly remediation?: {
      readonly maxInFlight?: number | string | undefined;
    } | undefined;
    readonly replicas?: number | undefined;
    readonly rollout?: {
      readonly after?: string | undefined;
      readonly strategy?: {
        readonly rollingUpdate?: {
          readonly maxSurge?: number | string | undefined;
          readonly maxUnavailable?: number | string | undefined;
        } | undefined;
        readonly type?: string | undefined;
      } | undefined;
    } | undefined;
    readonly selector?: {
      readonly matchExpressions?: readonly ({
        readonly key?: string | undefined;
        readonly operator?: string | undefined;
        readonly values?: readonly string[] | undefined;
      })[] | undefined;
      readonly matchLabels?: Readonly<Record<string, string>> | undefined;
    } | undefined;
    readonly template?: {
      readonly metadata?: {
        readonly annotations?: Readonly<Record<string, string>> | undefined;
        readonly labels?: Readonly<Record<string, string>> | undefined;
      } | undefined;
      readonly spec?: {
        readonly bootstrap?: {
          readonly configRef?: {
            readonly apiGroup?: string | undefined;
            readonly kind?: string | undefined;
            readonly name?: string | undefined;
          } | undefined;
          readonly dataSecretName?: string | undefined;
        } | undefined;
        readonly clusterName?: string | undefined;
        readonly deletion?: {
          readonly nodeDeletionTimeoutSeconds?: number | undefined;
          readonly nodeDrainTimeoutSeconds?: number | undefined;
          readonly nodeVolumeDetachTimeoutSeconds?: number | undefined;
        } | undefined;
        readonly failureDomain?: string | undefined;
        readonly infrastructureRef?: {
          readonly apiGroup?: string | undefined;
          readonly kind?: string | undefined;
          readonly name?: string | undefined;
        } | undefined;
        readonly minReadySeconds?: number | undefined;
        readonly providerID?: string | undefined;
        readonly readinessGates?: readonly ({
          readonly conditionType?: string | undefined;
          readonly polarity?: string | undefined;
        })[] | undefined;
        readonly taints?: readonly ({
          readonly effect?: string | undefined;
          readonly key?: string | undefined;
          readonly propagation?: string | undefined;
          readonly value?: string | undefined;
        })[] | undefined;
        readonly version?: string | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  readonly status?: {
    readonly availableReplicas?: number | undefined;
    readonly conditions?: readonly ({
      readonly lastTransitionTime?: string | undefined;
      readonly message?: string | undefined;
      readonly observedGeneration?: number | undefined;
      readonly reason?: string | undefined;
      readonly status?: string | undefined;
      readonly type?: string | undefined;
    })[] | undefined;
    readonly deprecated?: {
      readonly v1beta1?: {
        readonly availableReplicas?: number | undefined;
        readonly conditions?: readonly ({
          readonly lastTransitionTime?: string | undefined;
          readonly message?: string | undefined;
          readonly reason?: string | undefined;
          readonly severity?: string | undefined;
          readonly status?: string | undefined;
          readonly type?: string | undefined;
        })[] | undefined;
        readonly readyReplicas?: number | undefined;
        readonly unavailableReplicas?: number | undefined;
        readonly updatedReplicas?: number | undefined;
      } | undefined;
    } | undefined;
    readonly observedGeneration?: number | undefined;
    readonly phase?: string | undefined;
    readonly readyReplicas?: number | undefined;
    readonly replicas?: number | undefined;
    readonly selector?: string | undefined;
    readonly upToDateReplicas?: number | undefined;
    readonly versions?: readonly ({
      readonly replicas?: number | undefined;
      readonly version?: string | undefined;
    })[] | undefined;
  } | undefined;
}

export interface MachineObject extends KubeObject {
  readonly spec?: {
    readonly bootstrap?: {
      readonly configRef?: {
        readonly apiGroup?: string | undefined;
        readonly kind?: string | undefined;
        readonly name?: string | undefined;
      } | undefined;
      readonly dataSecretName?: string | undefined;
    } | undefined;
    readonly clusterName?: string | undefined;
    readonly deletion?: {
      readonly nodeDeletionTimeoutSeconds?: number | undefined;
      readonly nodeDrainTimeoutSeconds?: number | undefined;
      readonly nodeVolumeDetachTimeoutSeconds?: number | undefined;
    } | undefined;
    readonly failureDomain?: string | undefined;
    readonly infrastructureRef?: {
      readonly apiGroup?: string | undefined;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
    } | undefined;
    readonly minReadySeconds?: number | undefined;
    readonly providerID?: string | undefined;
    readonly readinessGates?: readonly ({
      readonly conditionType?: string | undefined;
      readonly polarity?: string | undefined;
    })[] | undefined;
    readonly taints?: readonly ({
      readonly effect?: string | undefined;
      readonly key?: string | undefined;
      readonly propagation?: string | undefined;
      readonly value?: string | undefined;
    })[] | undefined;
    readonly version?: string | undefined;
  } | undefined;
  readonly status?: {
    readonly addresses?: readonly ({
      readonly address?: string | undefined;
      readonly type?: string | undefined;
    })[] | undefined;
    readonly certificatesExpiryDate?: string | undefined;
    readonly conditions?: readonly ({
      readonly lastTransitionTime?: string | undefined;
      readonly message?: string | undefined;
      readonly observedGeneration?: number | undefined;
      readonly reason?: string | undefined;
      readonly status?: string | undefined;
      readonly type?: string | undefined;
    })[] | undefined;
    readonly deletion?: {
      readonly nodeDrainStartTime?: string | undefined;
      readonly waitForNodeVolumeDetachStartTime?: string | undefined;
      readonly waitForPreDrainHookStartTime?: string | undefined;
      readonly waitForPreTerminateHookStartTime?: string | undefined;
    } | undefined;
    readonly deprecated?: {
      readonly v1beta1?: {
        readonly conditions?: readonly ({
          readonly lastTransitionTime?: string | undefined;
          readonly message?: string | undefined;
          readonly reason?: string | undefined;
          readonly severity?: string | undefined;
          readonly status?: string | undefined;
          readonly type?: string | undefined;
        })[] | undefined;
        readonly failureMessage?: string | undefined;
        readonly failureReason?: string | undefined;
      } | undefined;
    } | undefined;
    readonly failureDomain?: string | undefined;
    readonly initialization?: {
      readonly bootstrapDataSecretCreated?: boolean | undefined;
      readonly infrastructureProvisioned?: boolean | undefined;
    } | undefined;
    readonly lastUpdated?: string | undefined;
    readonly nodeInfo?: {
      readonly architecture?: string | undefined;
      readonly bootID?: string | undefined;
      readonly containerRuntimeVersion?: string | undefined;
      readonly kernelVersion?: string | undefined;
      readonly kubeProxyVersion?: string | undefined;
      readonly kubeletVersion?: string | undefined;
      readonly machineID?: string | undefined;
      readonly operatingSystem?: string | undefined;
      readonly osImage?: string | undefined;
      readonly swap?: {
        readonly capacity?: number | undefined;
      } | undefined;
      readonly systemUUID?: string | undefined;
    } | undefined;
    readonly nodeRef?: {
      readonly name?: string | undefined;
    } | undefined;
    readonly observedGeneration?: number | undefined;
    readonly phase?: string | undefined;
  } | undefined;
}

export interface MachinePoolObject extends KubeObject {
  readonly spec?: {
    readonly clusterName?: string | undefined;
    readonly failureDomains?: readonly string[] | undefined;
    readonly providerIDList?: readonly string[] | undefined;
    readonly replicas?: number | undefined;
    readonly template?: {
      readonly metadata?: {
        readonly annotations?: Readonly<Record<string, string>> | undefined;
        readonly labels?: Readonly<Record<string, string>> | undefined;
      } | undefined;
      readonly spec?: {
        readonly bootstrap?: {
          readonly configRef?: {
            readonly apiGroup?: string | undefined;
            readonly kind?: string | undefined;
            readonly name?: string | undefined;
          } | undefined;
          readonly dataSecretName?: string | undefined;
        } | undefined;
        readonly clusterName?: string | undefined;
        readonly deletion?: {
          readonly nodeDeletionTimeoutSeconds?: number | undefined;
          readonly nodeDrainTimeoutSeconds?: number | undefined;
          readonly nodeVolumeDetachTimeoutSeconds?: number | undefined;
        } | undefined;
        readonly failureDomain?: string | undefined;
        readonly infrastructureRef?: {
          readonly apiGroup?: string | undefined;
          readonly kind?: string | undefined;
          readonly name?: string | undefined;
        } | undefined;
        readonly minReadySeconds?: number | undefined;
        readonly providerID?: string | undefined;
        readonly readinessGates?: readonly ({
          readonly conditionType?: string | undefined;
          readonly polarity?: string | undefined;
        })[] | undefined;
        readonly taints?: readonly ({
          readonly effect?: string | undefined;
          readonly key?: string | undefined;
          readonly propagation?: string | undefined;
          readonly value?: string | undefined;
        })[] | undefined;
        readonly version?: string | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  readonly status?: {
    readonly availableReplicas?: number | undefined;
    readonly conditions?: readonly ({
      readonly lastTransitionTime?: string | undefined;
      readonly message?: string | undefined;
      readonly observedGeneration?: number | undefined;
      readonly reason?: string | undefined;
      readonly status?: string | undefined;
      readonly type?: string | undefined;
    })[] | undefined;
    readonly deprecated?: {
      readonly v1beta1?: {
        readonly availableReplicas?: number | undefined;
        readonly conditions?: readonly ({
          readonly lastTransitionTime?: string | undefined;
          readonly message?: string | undefined;
          readonly reason?: string | undefined;
          readonly severity?: string | undefined;
          readonly status?: string | undefined;
          readonly type?: string | undefined;
        })[] | undefined;
        readonly failureMessage?: string | undefined;
        readonly failureReason?: string | undefined;
        readonly readyReplicas?: number | undefined;
        readonly unavailableReplicas?: number | undefined;
      } | undefined;
    } | undefined;
    readonly initialization?: {
      readonly bootstrapDataSecretCreated?: boolean | undefined;
      readonly infrastructureProvisioned?: boolean | undefined;
    } | undefined;
    readonly nodeRefs?: readonly ({
      readonly apiVersion?: string | undefined;
      readonly fieldPath?: string | undefined;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
      readonly namespace?: string | undefined;
      readonly resourceVersion?: string | undefined;
      readonly uid?: string | undefined;
    })[] | undefined;
    readonly observedGeneration?: number | undefined;
    readonly phase?: string | undefined;
    readonly readyReplicas?: number | undefined;
    readonly replicas?: number | undefined;
    readonly upToDateReplicas?: number | undefined;
    readonly versions?: readonly ({
      readonly replicas?: number | undefined;
      readonly version?: string | undefined;
    })[] | undefined;
  } | undefined;
}
