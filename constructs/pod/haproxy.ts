import type { Image } from '../cluster/versions.ts';

/** HAProxy at both ends of a tunnel: the LTS line, in its small image, which has the shell that {@link haproxyScript} needs. */
export const haproxyImage: Image = { registry: 'docker.io', repository: 'library/haproxy', tag: '3.2.6-alpine' };

export const haproxyFiles = { config: 'haproxy.cfg', script: 'run.sh' } as const;

export interface HaproxyConfigOptions {
  /** Connections at once; HAProxy sets memory aside for them. */
  readonly connections: number;
  /** `address:port` of the health page, `/healthz`. */
  readonly health: string;
  /** The sections that say what listens and where it leads. */
  readonly sections: readonly (readonly string[])[];
}

/** A configuration that forwards TCP and is understood from HAProxy 2.6 on. */
export function haproxyConfig({ connections, health, sections }: HaproxyConfigOptions): string {
  const common = [
    [
      'global',
      `maxconn ${connections}`,
      // By itself it takes one for each processor. One forwards what a network carries, and hands nothing over.
      'nbthread 1',
      // A machine that allows fewer open files gets fewer connections instead of none.
      'no strict-limits',
      'log stdout format raw local0',
    ],
    [
      'defaults',
      'mode tcp',
      'log global',
      'option tcplog',
      'option dontlognull',
      // Only what failed is logged.
      'option dontlog-normal',
      'timeout connect 5s',
      // Until both sides are connected; from then on the one for tunnels counts. A watch may be silent for long.
      'timeout client 30s',
      'timeout server 30s',
      'timeout tunnel 24h',
      // A side that has closed is not waited for: with the long timeout such connections would pile up.
      'timeout client-fin 30s',
      'timeout server-fin 30s',
      // A peer that vanished without a word is noticed after a minute.
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
  /** Other files that are read only at a start, such as certificates. */
  readonly watched: readonly string[];
  /** Goes on as before for this long after it was told to stop, while others still send connections. */
  readonly serveSeconds: number;
  /** Then waits this long for open connections to end before it ends them. */
  readonly drainSeconds: number;
}

/** How often files are compared. Kubelets take up to a minute to show a change anyway. */
const compareSeconds = 5;

/**
 * The shell script that runs HAProxy and has it read its files again when they change. Open connections stay with the
 * process that has them: a renewed certificate cuts no watch.
 */
export function haproxyScript({ config, watched, serveSeconds, drainSeconds }: HaproxyScriptOptions): string {
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
  (sleep ${drainSeconds}; kill -TERM "$proxy") &
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
