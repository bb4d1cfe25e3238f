import type { V1Container, V1PodSpec } from '@kubernetes/client-node';

/**
 * The violations of the Pod Security Standard "restricted" by a pod, in the words of the Kubernetes documentation; empty when
 * there is none. It is independent of the code that renders the provider's pods.
 */
export function restrictedViolations(pod: V1PodSpec): string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  return [...podViolations(pod), ...containers.flatMap((container) => containerViolations(container, pod))];
}

const volumeTypes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];

function podViolations(pod: V1PodSpec): string[] {
  const { securityContext: context = {} } = pod;
  const volumes = (pod.volumes ?? []).flatMap(({ name, ...source }) =>
    Object.keys(source)
      .filter((type) => !volumeTypes.includes(type))
      .map((type) => `volume ${name} is of type ${type}`),
  );
  const sysctls = (context.sysctls ?? []).filter(({ name }) => !safeSysctls.includes(name));
  return [
    ...(['hostNetwork', 'hostPID', 'hostIPC'] as const)
      .filter((field) => pod[field])
      .map((field) => `${field} is true`),
    ...volumes,
    ...sysctls.map(({ name }) => `sysctl ${name} is set`),
    ...(context.runAsUser === 0 ? ['the pod runs as root'] : []),
    ...hostAccess('the pod', context),
  ];
}

function containerViolations(container: V1Container, pod: V1PodSpec): string[] {
  const { name, securityContext: context = {} } = container;
  const capabilities: { add?: string[]; drop?: string[] } = context.capabilities ?? {};
  const added = (capabilities.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE');
  const seccomp = (context.seccompProfile ?? pod.securityContext?.seccompProfile)?.type;
  const broken: readonly (readonly [boolean, string])[] = [
    [context.privileged === true, 'is privileged'],
    [context.allowPrivilegeEscalation !== false, 'may escalate its privileges'],
    [(context.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) !== true, 'may run as root'],
    [context.runAsUser === 0, 'runs as root'],
    [seccomp !== 'RuntimeDefault' && seccomp !== 'Localhost', 'has no seccomp profile'],
    [!capabilities.drop?.includes('ALL'), 'does not drop all capabilities'],
    [added.length > 0, `adds ${added.join()}`],
    [(context.procMount ?? 'Default') !== 'Default', 'has an unmasked /proc'],
    [(container.ports ?? []).some(({ hostPort }) => hostPort), 'has a host port'],
    [reachesHosts(container), 'has a probe or hook with a host'],
  ];
  return [
    ...broken.filter(([isBroken]) => isBroken).map(([, what]) => `container ${name} ${what}`),
    ...hostAccess(`container ${name}`, context),
  ];
}

interface HostContext {
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly appArmorProfile?: { readonly type: string };
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
}

const selinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

function hostAccess(who: string, { windowsOptions, appArmorProfile, seLinuxOptions }: HostContext): string[] {
  const { type = '', user, role } = seLinuxOptions ?? {};
  return [
    ...(windowsOptions?.hostProcess ? [`${who} is a Windows host process`] : []),
    ...(appArmorProfile?.type === 'Unconfined' ? [`${who} is not confined by AppArmor`] : []),
    ...(!selinuxTypes.includes(type) || user || role ? [`${who} has a SELinux identity of its own`] : []),
  ];
}

function reachesHosts({ startupProbe, readinessProbe, livenessProbe, lifecycle }: V1Container): boolean {
  const handlers = [startupProbe, readinessProbe, livenessProbe, lifecycle?.postStart, lifecycle?.preStop];
  return handlers.some((handler) => handler?.httpGet?.host || handler?.tcpSocket?.host);
}
