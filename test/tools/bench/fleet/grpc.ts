/** One field of a protobuf message: a number, a text, or a message. */
export type Field = readonly [number: number, value: number | string | Buffer];

/** A protobuf message. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number << 3), varint(value)];
      const content = Buffer.from(value);
      return [varint((number << 3) | 2), varint(content.length), content];
    }),
  );
}

/** A message as gRPC sends it. @param promised length that its prefix promises, if it is not that of the message */
export function framed(content: Buffer, promised = content.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(promised, 1);
  return Buffer.concat([prefix, content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
