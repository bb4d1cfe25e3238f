import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findFurtherBinaries } from '../tools/testbed/binaries.ts';
import { otelCollector } from '../tools/testbed/families.ts';
import { ChildProgram } from './child-program.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** A span as the collector prints it. */
export interface PrintedSpan {
  readonly trace: string;
  readonly id: string;
  /** Empty for the first span of a trace. */
  readonly parent: string;
  readonly name: string;
}

/** OpenTelemetry's own collector, which takes spans by OTLP over HTTP and prints them. */
export class OtelCollector {
  readonly endpoint: string;
  readonly #program: ChildProgram;
  readonly #log: string;

  private constructor(program: ChildProgram, log: string, address: string) {
    this.#program = program;
    this.#log = log;
    this.endpoint = `http://${address}/v1/traces`;
  }

  /** @param directory for its configuration and its output */
  static async start(directory: string, cache: string): Promise<OtelCollector> {
    const { 'otel-collector': file = '' } = await findFurtherBinaries([otelCollector], cache, (line) =>
      console.log(line),
    );
    const address = `127.0.0.1:${await freePort()}`;
    const configuration = {
      receivers: { otlp: { protocols: { http: { endpoint: address } } } },
      exporters: { debug: { verbosity: 'detailed' } },
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: { traces: { receivers: ['otlp'], exporters: ['debug'] } },
      },
    };
    const [path, log] = ['collector.yaml', 'collector.log'].map((name) => join(directory, name));
    if (!path || !log) throw new Error('two paths');
    await writeFile(path, stringify(configuration));
    const program = new ChildProgram(file, [`--config=file:${path}`], { log });
    const collector = new OtelCollector(program, log, address);
    await until('the collector to be ready', async () => {
      const output = await collector.output();
      if (!program.isRunning) throw new Error(`the collector ended: ${output}`);
      return output.includes('Everything is ready');
    });
    return collector;
  }

  output(): Promise<string> {
    return readFile(this.#log, 'utf8');
  }

  /** All spans so far. */
  async spans(): Promise<PrintedSpan[]> {
    const [, ...printed] = (await this.output()).split(/^Span #\d+$/m);
    return printed.map((text) => {
      const field = (name: string) => new RegExp(`^ +${name} *: (.*)$`, 'm').exec(text)?.[1] ?? '';
      return { trace: field('Trace ID'), id: field('ID'), parent: field('Parent ID'), name: field('Name') };
    });
  }

  stop(): Promise<void> {
    return this.#program.end();
  }
}
