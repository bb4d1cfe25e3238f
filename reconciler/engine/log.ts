import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino';

/** Writes one line per state change. Lines contain names, reasons and messages, never objects. */
export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error'> & {
  child(fields: Readonly<Record<string, string>>): Logger;
};

export interface LogOptions {
  readonly format: 'json' | 'text';
  readonly level: 'debug' | 'info' | 'warn' | 'error';
}

/** A logger, by default to stdout. Text is for people at a terminal, JSON for everything else. */
export function createLogger(
  { format, level }: LogOptions,
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Error messages of the operator contain no secrets; the objects in an error might.
    serializers: { error: (error: unknown) => (error instanceof Error ? describe(error) : String(error)) },
  };
  return format === 'json'
    ? pino(options, destination)
    : pino(options, { write: (line: string) => destination.write(text(line)) });
}

/** The message of an error and of its causes. */
function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${describe(error.cause)}` : error.message;
}

/** `12:34:56.789 INFO  message key=value …` */
function text(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}${details.join('')}\n`;
}
