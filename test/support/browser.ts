import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

const flags = [
  '--headless=new',
  '--no-sandbox', // of a page of our own, as root
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--remote-debugging-pipe',
  'about:blank',
];

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly request?: { readonly url: string } };
  readonly sessionId?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** Chromium with one page, by its DevTools protocol over pipes, which needs no port and no library. */
export class Browser implements AsyncDisposable {
  /** Each request of the page. */
  readonly requested: string[] = [];
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #events = new Map<string, () => void>();
  readonly #ended: Promise<unknown>;
  #session: string | undefined;
  #last = 0;

  private constructor(process: ChildProcess, profile: string) {
    this.#process = process;
    this.#profile = profile;
    this.#ended = new Promise((resolve, reject) => process.once('exit', resolve).once('error', reject));
    let rest = '';
    (process.stdio[4] as Duplex).setEncoding('utf8').on('data', (chunk: string) => {
      const parts = `${rest}${chunk}`.split('\0');
      rest = parts.pop() ?? '';
      for (const part of parts) this.#take(JSON.parse(part) as Message);
    });
  }

  /** @throws when the program is not there */
  static async start(program = '/usr/bin/chromium'): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), 'chromium-'));
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] as const;
    const browser = new Browser(
      spawn(program, [...flags, `--user-data-dir=${profile}`], { stdio: [...stdio] }),
      profile,
    );
    const { targetInfos } = await browser.send<{ targetInfos: { targetId: string; type: string }[] }>(
      'Target.getTargets',
    );
    const target =
      targetInfos.find(({ type }) => type === 'page') ??
      (await browser.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' }));
    const { sessionId } = await browser.send<{ sessionId: string }>('Target.attachToTarget', {
      targetId: target.targetId,
      flatten: true,
    });
    browser.#session = sessionId;
    for (const domain of ['Page', 'Network', 'Runtime']) await browser.send(`${domain}.enable`);
    return browser;
  }

  /** Opens a page of this width, and waits until it is loaded. */
  async open(url: string, { width, dark = false }: { readonly width: number; readonly dark?: boolean }): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: false });
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
    await this.send('Emulation.setEmulatedMedia', { features });
    const loaded = new Promise<void>((resolve) => this.#events.set('Page.loadEventFired', resolve));
    await this.send('Page.navigate', { url });
    await loaded;
  }

  /** The value of an expression in the page, also of a promise. @throws what it throws */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send<{
      result: { value: T };
      exceptionDetails?: { text: string; exception?: { description?: string } };
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** The whole page as PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.send<{ data: string }>('Page.captureScreenshot', { captureBeyondViewport: true });
    return Buffer.from(data, 'base64');
  }

  /** @throws what the browser refuses, or when it has ended */
  async send<T = unknown>(method: string, params: object = {}): Promise<T> {
    const id = ++this.#last;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    (this.#process.stdio[3] as Duplex).write(`${JSON.stringify({ id, method, params, sessionId: this.#session })}\0`);
    const ended = this.#ended.then((code) => Promise.reject(new Error(`chromium has ended: ${String(code)}`)));
    const { result, error } = await Promise.race([answer, ended]);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10 });
  }

  #take({ id, method = '', params, ...rest }: Message): void {
    if (id !== undefined) this.#waiting.get(id)?.(rest);
    if (method === 'Network.requestWillBeSent' && params?.request) this.requested.push(params.request.url);
    this.#events.get(method)?.();
  }
}
