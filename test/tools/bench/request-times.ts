/**
 * Measures requests to an API server from any place: `node request-times.ts < plan.json`. The plan is a
 * {@link RequestPlan}, the answer on standard output a {@link RequestTimes} per target. It only needs Node, because
 * it runs in the network of a node.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

/** An address of the API server. */
export interface RequestTarget {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** The name in its certificate that is verified. */
  readonly serverName: string;
}

export interface RequestPlan {
  readonly targets: readonly RequestTarget[];
  /** PEM of the CA that signed the certificate. */
  readonly certificateAuthority: string;
  /** The path of the request, and the token of the client. */
  readonly path: string;
  readonly token: string;
  /** Targets take turns: in each round every one gets this many requests on one connection and this many on new connections. */
  readonly rounds: number;
  readonly onOpenConnection: number;
  readonly onNewConnections: number;
}

/** Milliseconds of every request, and the bytes on the wire of one on an open connection, both directions together. */
export interface RequestTimes {
  readonly name: string;
  readonly open: readonly number[];
  readonly fresh: readonly number[];
  readonly bytes: number;
}

async function measure(plan: RequestPlan): Promise<RequestTimes[]> {
  const agents = plan.targets.map(() => new Agent({ keepAlive: true, maxSockets: 1, ca: plan.certificateAuthority }));
  const times = plan.targets.map(({ name }) => ({ name, open: [] as number[], fresh: [] as number[], wire: 0 }));
  for (const [index, target] of plan.targets.entries()) await timed(plan, target, agents[index]);
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const [index, target] of plan.targets.entries()) {
      const of = times[index];
      if (!of) continue;
      const before = wireBytes();
      for (let n = 0; n < plan.onOpenConnection; n += 1) of.open.push(await timed(plan, target, agents[index]));
      of.wire += wireBytes() - before;
      for (let n = 0; n < plan.onNewConnections; n += 1) of.fresh.push(await timed(plan, target));
    }
  }
  for (const agent of agents) agent.destroy();
  return times.map(({ wire, ...rest }) => ({ ...rest, bytes: wire / rest.open.length }));
}

/** Milliseconds until the whole answer of one request has arrived. Without an agent it uses a new connection. */
function timed(
  { certificateAuthority, path, token }: RequestPlan,
  target: RequestTarget,
  agent?: Agent,
): Promise<number> {
  const { host, port, serverName } = target;
  const options = {
    host,
    port,
    servername: serverName,
    path,
    headers: { authorization: `Bearer ${token}` },
    agent: agent ?? false,
    ca: certificateAuthority,
    // A connection that was opened before its rules existed is dropped for minutes, however often it is repeated.
    signal: AbortSignal.timeout(5_000),
  };
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve(performance.now() - start);
        else reject(new Error(`${target.name} answered ${answer.statusCode}`));
      });
    });
    sent.on('error', reject).end();
  });
}

/** Bytes that this machine has sent or received, without loopback traffic. */
function wireBytes(): number {
  return readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .map((line) => /^\s*eth0:\s*(.*)$/.exec(line)?.[1]?.split(/\s+/).map(Number))
    .reduce((sum, counters) => sum + (counters?.[0] ?? 0) + (counters?.[8] ?? 0), 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const plan = JSON.parse(await text(process.stdin)) as RequestPlan;
  process.stdout.write(JSON.stringify(await measure(plan)));
}
