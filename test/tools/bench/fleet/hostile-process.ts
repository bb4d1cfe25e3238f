/**
 * The hostile API servers, etcds, stores and token services of a fleet: it follows the {@link HostileRequest}s of the process that has
 * started it, and ends with it.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import { HostileApi } from './bombs.ts';
import { answerEtcd } from './etcd-answers.ts';
import { HostileEtcds } from './etcd-bombs.ts';
import type { HostileRequest } from './hostile-servers.ts';
import { HostileStores } from './hostile-stores.ts';
import { TLSServers } from './tls-servers.ts';
import type { HostileAnswers } from './world.ts';

/** Lower than that of the honest world. */
const priority = 10;
setPriority(priority);
process.on('disconnect', () => process.exit());

const snapshot = readFileSync(process.argv[2] ?? '');
const apis = new HostileApi();
const etcds = new HostileEtcds();
let patientStores: readonly string[] = [];
const stores = new HostileStores((address) => patientStores.includes(address));

/** By their certificates. A member is known by its own. */
const pairs = new Map<string, KeyPair>();
const members = new Map<string, Extract<HostileRequest, { kind: 'take' }>>();

const apiServers = new TLSServers({ answer: (request, response) => apis.answer(request, response), plainAnswer: 'ok' });
const etcdServers = new TLSServers({
  answer: (request, response, address) => {
    const of = members.get(address);
    if (!of || etcds.answer(request, response, of.worksUntil)) return;
    answerEtcd(request, response, { ordinal: 0, members: [of.member], snapshot });
  },
  plainAnswer: (response) => etcds.answerPlain(response),
});

process.on('message', (request: HostileRequest, socket?: Socket) => {
  if (request.kind === 'serve') {
    patientStores = request.patientStores;
    stores.serve(request.pair);
  } else if (request.kind === 'count') {
    process.send?.({ apiServers: apis.answers, etcds: etcds.answers, ...stores.answers } satisfies HostileAnswers);
  } else if (socket) {
    socket.on('error', () => {});
    const pair = pairs.get(request.pair.certificate) ?? request.pair;
    pairs.set(pair.certificate, pair);
    members.set(socket.localAddress ?? '', request);
    (request.server === 'api' ? apiServers : etcdServers).take(socket, pair);
  }
});
