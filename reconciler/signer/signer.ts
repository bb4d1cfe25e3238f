import { fieldManager } from '../../constructs/api/group.ts';
import { kubeconfigSigner } from '../../constructs/api/kubeconfig-request.ts';
import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import { approval, type Decision, decisionPatch } from '../pki/certificate-signing-request.ts';
import { CacheBudget } from '../kube/cache-budget.ts';
import type { KubernetesApi } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import { isNotFound, isOutage, isReplaced } from '../kube/errors.ts';
import type { EventRecorder } from '../kube/events.ts';
import { Informer } from '../kube/informer.ts';
import { InformerSet } from '../kube/informer-set.ts';
import { type KubeObject, objectKey } from '../kube/object.ts';
import { WorkQueue } from '../kube/queue.ts';
import { kubeconfigSigned } from '../reconcile/status/events.ts';
import type { Logger } from '../engine/log.ts';
import { decideSigning, type SigningInput, type Signed } from './decide-signing.ts';
import { RequestLimits } from './limits.ts';
import { isAnswered, kept, type ClientCertificateRequest } from './request.ts';

interface SignerOptions extends Pick<SigningInput, 'management' | 'answersFor'> {
  readonly client: KubernetesApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
}

/** Memory for requests, which people create without a limit. */
const heldBytes = 32 * 1024 * 1024;

/** How often it says that it cannot read requests: without permission, that does not end until an administrator grants it. */
const quietMs = 60 * 60_000;

/**
 * Answers requests for client certificates of hosted clusters, which people create in the management cluster. They need neither the key
 * of a CA nor a right on Secrets.
 */
export class Signer {
  readonly #options: SignerOptions;
  readonly #known: InformerSet;
  readonly #queue: WorkQueue;
  readonly #limits = new RequestLimits();
  #unreadReported = -Infinity;

  constructor(options: SignerOptions) {
    this.#options = options;
    const { client, clock, log } = options;
    const requests = new Informer({
      client,
      clock,
      resource: CertificateSigningRequest,
      fieldSelector: `spec.signerName=${kubeconfigSigner}`,
      keep: (object) => this.#limits.keep(object),
      room: new CacheBudget(heldBytes),
      onError: (error) => this.#reportUnread(error),
    });
    this.#known = new InformerSet([requests]);
    this.#queue = new WorkQueue({
      process: (name) => this.#answer(name),
      concurrency: 4,
      clock,
      onError: (request, error) => log.warn({ request, error }, 'request for a kubeconfig not answered, retrying'),
      isShared: isOutage,
    });
  }

  /** Answers the requests that wait, and then each new one. Resolves when those that wait are known. */
  async start(): Promise<void> {
    this.#known.onChange((_, { type, object }) => {
      if (type === 'deleted') this.#limits.forget(object.metadata);
      this.#queue.add(object.metadata.name);
    });
    await this.#known.start();
  }

  /** Resolves when the answer that it is writing is written. */
  async stop(): Promise<void> {
    await this.#queue.stop();
    await this.#known.stop();
  }

  async #answer(name: string): Promise<void> {
    const request = this.#known.get(CertificateSigningRequest, { name }) as ClientCertificateRequest | undefined;
    if (!request || isAnswered(request)) return;
    const fault = this.#options.clock.fault?.();
    if (fault !== undefined) throw new Error(`no certificate is issued while ${fault}: correct the clock`);
    const { client, clock, management, answersFor } = this.#options;
    const input = { management, answersFor, reviewer: client, now: new Date(clock.now()) };
    const decision = await decideSigning(request, input);
    try {
      if (decision.kind === 'denied') await this.#deny(request, decision);
      if (decision.kind === 'signed') await this.#sign(request, decision.hostedControlPlane, decision.signed);
    } catch (error) {
      // Its creator has deleted it meanwhile, and may have created another one of its name.
      if (!isNotFound(error) && !isReplaced(error)) throw error;
    }
  }

  async #deny(
    request: ClientCertificateRequest,
    { reason, message }: Pick<Decision, 'reason' | 'message'>,
  ): Promise<void> {
    const { name } = request.metadata;
    const { username: requester } = request.spec;
    if (request.status?.conditions?.some(({ type }) => type === 'Approved')) await this.#fail(request, reason, message);
    else await this.#decide(decisionPatch(request, { type: 'Denied', reason, message }));
    this.#options.log.info({ request: name, requester, reason, message }, 'request for a kubeconfig denied');
  }

  /** An approval cannot be taken back, whether a person has given it or this operator before it ended. */
  async #fail({ metadata, status }: ClientCertificateRequest, reason: string, message: string): Promise<void> {
    const failed = { type: 'Failed', status: 'True', reason, message };
    const patch = { status: { conditions: [...(status?.conditions ?? []), failed] } };
    const { name, resourceVersion } = metadata;
    const options = { fieldManager, subresource: 'status', resourceVersion };
    this.#remember(await this.#options.client.mergePatch(CertificateSigningRequest, { name }, patch, options));
  }

  async #sign(request: ClientCertificateRequest, hostedControlPlane: KubeObject, signed: Signed): Promise<void> {
    const { client, events, log } = this.#options;
    const { user, groups, notAfter, certificates } = signed;
    const { name, uid } = request.metadata;
    const { username: requester = '' } = request.spec;
    const until = notAfter.toISOString();
    const about = { request: name, requester, user, groups, until };
    // Before it is signed: the log has every certificate, also if the operator ends meanwhile.
    log.info({ hostedControlPlane: objectKey(hostedControlPlane.metadata), ...about }, 'signing a kubeconfig');
    // If the operator ends between both writes, it decides again.
    await this.#decide(approval(request, `${requester} may have a certificate for ${user}`));
    const certificate = Buffer.from(certificates).toString('base64');
    const patch = { metadata: { uid }, status: { certificate } };
    const written = { fieldManager, subresource: 'status' };
    this.#remember(await client.mergePatch(CertificateSigningRequest, { name }, patch, written));
    events.record(hostedControlPlane, kubeconfigSigned(about));
  }

  async #decide(patch: KubeObject): Promise<void> {
    const { client } = this.#options;
    this.#remember(await client.apply(patch, { fieldManager, force: true, subresource: 'approval' }));
  }

  #reportUnread(error: unknown): void {
    const { clock, log } = this.#options;
    if (clock.now() - this.#unreadReported < quietMs) return;
    this.#unreadReported = clock.now();
    log.warn({ error }, 'cannot read requests for kubeconfigs, which stay without an answer until it can, retrying');
  }

  #remember(object: KubeObject): void {
    this.#known.remember(kept(object));
  }
}
