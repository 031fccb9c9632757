// What the clients of npm have in common: the script's fields, and how values are shown.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const [host, port, script] = process.argv.slice(2);
export const password = 'Secret-1';

const bases = { g: Buffer.from('0123456789abcdef'), h: Buffer.from(Array.from({ length: 256 }, (_, i) => i)) };

const make = (field = '') => Buffer.concat(field.split('+').filter(Boolean).map((piece) => {
  const [kind, value] = [piece[0], piece.slice(2)];
  return kind === 'x' ? Buffer.from(value, 'hex') : Buffer.alloc(Number(value), bases[kind]);
}));

const parameter = (field) => {
  const raw = make(field.slice(2));
  switch (field[0]) {
    case 'n': return null;
    case 'i': return Number.isSafeInteger(Number(raw)) ? Number(raw) : BigInt(raw.toString());
    case 'd': return Number(raw);
    case 's': return raw.toString();
    default: return raw;
  }
};

const long = (raw) => `of ${raw.length} ${createHash('sha1').update(raw).digest('hex')}`;

export const show = (value) => {
  if (value === undefined || value === null) return String(value);
  if (value instanceof Date) return `Date ${Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString()}`;
  if (Buffer.isBuffer(value)) return `Buffer ${value.length > 300 ? long(value) : value.toString('hex')}`;
  if (typeof value === 'string') return `string ${value.length > 300 ? long(Buffer.from(value)) : JSON.stringify(value)}`;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (typeof value === 'object') return `{${Object.entries(value).map(([k, v]) => `${k}: ${show(v)}`).join(', ')}}`;
  return `${typeof value} ${String(value)}`;
};

export const failed = (error) => console.log('error', error.errno, error.code, error.sqlState, String(error.sqlMessage ?? error.message).slice(0, 300));

// play hands each line to one of the client's functions, by its operation.
export const play = async (operations) => {
  let number = 0;
  for (const line of readFileSync(script, 'utf8').trimEnd().split('\n')) {
    number += 1;
    const [op, ...fields] = line.split('\t');
    console.log('>', number, line.slice(0, 300));
    const operation = operations[op];
    try {
      if (!operation) console.log('not played');
      else if (op === 'query' || op === 'stream') await operation(make(fields[0]).toString());
      else if (op === 'prepare') await operation(fields[0], make(fields[1]).toString());
      else if (op === 'execute' || op === 'cursor' || op === 'long') await operation(fields[0], fields.slice(1).map(parameter));
      else await operation(...fields);
    } catch (error) {
      failed(error);
    }
  }
};
