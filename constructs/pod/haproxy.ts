import type { Image } from '../cluster/versions.ts';
import { drainSeconds, type servedSeconds } from './shutdown.ts';

/**
 * HAProxy at both ends of a tunnel: the LTS release, in its small image, which contains the shell that {@link
 * haproxyScript} needs.
 */
export const haproxyImage: Image = { registry: 'docker.io', repository: 'library/haproxy', tag: '3.2.6-alpine' };

export const haproxyFiles = { config: 'haproxy.cfg', script: 'run.sh' } as const;

export interface HaproxyConfigOptions {
  /** Maximum number of concurrent connections, for which HAProxy reserves memory. */
  readonly connections: number;
  /** `address:port` of the health endpoint, `/healthz`. */
  readonly health: string;
  /** The sections with listeners and their backends. */
  readonly sections: readonly (readonly string[])[];
}

/** A configuration that forwards TCP, for HAProxy 2.6 and newer. */
export function haproxyConfig({ connections, health, sections }: HaproxyConfigOptions): string {
  const common = [
    [
      'global',
      `maxconn ${connections}`,
      // The default is one per processor. One thread forwards the traffic of a whole network link, and avoids handovers
      // between threads.
      'nbthread 1',
      // With a lower limit of open files, HAProxy accepts fewer connections instead of refusing to start.
      'no strict-limits',
      'log stdout format raw local0',
    ],
    [
      'defaults',
      'mode tcp',
      'log global',
      'option tcplog',
      'option dontlognull',
      // Log only failed connections.
      'option dontlog-normal',
      'timeout connect 5s',
      // These apply until both sides are connected. Then the timeout for tunnels applies, because a watch can be silent
      // for long.
      'timeout client 30s',
      'timeout server 30s',
      'timeout tunnel 24h',
      // Do not wait for a side that has closed: with the long timeout such connections would accumulate.
      'timeout client-fin 30s',
      'timeout server-fin 30s',
      // Detect a vanished peer after a minute.
      ...['cli', 'srv'].flatMap((side) => [
        `option ${side}tcpka`,
        `${side}tcpka-idle 30s`,
        `${side}tcpka-intvl 10s`,
        `${side}tcpka-cnt 3`,
      ]),
    ],
    ['frontend health', 'mode http', `bind "${health}"`, 'monitor-uri /healthz'],
  ];
  return [...common, ...sections]
    .map(([head, ...lines]) => [head, ...lines.map((line) => `  ${line}`), ''].join('\n'))
    .join('\n');
}

export interface HaproxyScriptOptions {
  /** Path of the configuration. */
  readonly config: string;
  /** Other files that HAProxy reads only when it starts, such as certificates. */
  readonly watched: readonly string[];
  /** How long HAProxy continues to accept connections after the kubelet stops it, because clients still connect. */
  readonly serveSeconds: 0 | typeof servedSeconds;
  /** The time after which the kubelet kills the pod: its `terminationGracePeriodSeconds`. */
  readonly graceSeconds: number;
}

/** Interval between comparisons of the files. Kubelets take up to a minute to update a mounted file anyway. */
const compareSeconds = 5;

/**
 * The shell script that runs HAProxy and reloads it when its files change. The old process keeps its open connections:
 * a renewed certificate does not interrupt watches.
 */
export function haproxyScript({ config, watched, serveSeconds, graceSeconds }: HaproxyScriptOptions): string {
  return `fingerprint() {
  cat ${[config, ...watched].join(' ')} | sha256sum
}
seen=$(fingerprint)
haproxy -W -db -f ${config} &
proxy=$!

(
  while sleep ${compareSeconds}; do
    now=$(fingerprint)
    if [ "$now" != "$seen" ]; then
      seen=$now
      kill -USR2 "$proxy"
    fi
  done
) &

stop() {
  stopping=yes
  sleep ${serveSeconds}
  kill -USR1 "$proxy"
  (sleep ${drainSeconds(graceSeconds)}; kill -TERM "$proxy") &
}
stopping=
trap stop TERM INT

# A signal ends the first wait, but not HAProxy.
wait "$proxy"
status=$?
if [ "$stopping" ]; then
  wait "$proxy"
  status=$?
fi
exit "$status"
`;
}
