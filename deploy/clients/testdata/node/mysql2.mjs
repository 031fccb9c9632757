// Plays the script with mysql2 of npm: texts by query, prepared statements in the binary protocol.
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import mysql from 'mysql2';
import { failed, host, password, play, port, show } from './play.mjs';

const connection = mysql.createConnection({
  host, port: Number(port), user: 'script', password, database: 'play', charset: 'utf8mb4', timezone: 'Z', multipleStatements: true,
  supportBigNumbers: true, bigNumberStrings: true, flags: ['+LOCAL_FILES'],
  jsonStrings: true, // Which texts are JSON is told in MariaDB's extension of the protocol, which the gateway does not speak.
});
connection.on('error', failed);
const call = (method, ...args) => promisify(connection[method].bind(connection))(...args);
const column = (c) => c && [c.catalog, c.schema, c.table, c.orgTable, c.name, c.orgName, c.characterSet, c.columnLength, c.columnType, c.flags, c.decimals];
const columns = (fields) => (fields ?? []).map((f) => (Array.isArray(f) ? f.map(column) : column(f)));

// plain leaves out what session tracking adds, which the gateway need not offer: the changes, their flag, and how mysql2
// reads info: without tracking it takes the length before the text for a part of it.
const plain = (value) => {
  if (Array.isArray(value)) return value.map(plain);
  if (value?.constructor?.name !== 'ResultSetHeader') return value;
  const { stateChanges, serverStatus, info, ...rest } = value;
  return { ...rest, serverStatus: serverStatus & ~0x4000, info: info?.replace(/^.(?=Records|Rows|Statement)/s, '') };
};

const report = (resolve) => (error, rows, fields) => {
  if (error) failed(error);
  console.log('results', show(plain(rows)), '\ncolumns', show(columns(fields)));
  resolve();
};

const infile = (path) => createReadStream(path);
// What it finds in the middle of a file by itself it asks this function for.
const run = (sql) => new Promise((resolve) => {
  const file = /INFILE '([^']*)'/.exec(sql)?.[1];
  connection.query({ sql, infileStreamFactory: () => infile(file) }, report(resolve));
});

const prepared = new Map();
const execute = (name, values) => new Promise((resolve) => {
  const statement = prepared.get(name);
  if (statement) statement.execute(values, report(resolve));
  else resolve();
});
await play({
  query: run,
  stream: (sql) => new Promise((resolve) => {
    let rows = 0;
    connection.query(sql).on('error', (error) => { failed(error); resolve(); }).on('fields', (fields) => console.log('columns', show(columns(fields))))
      .on('result', (row) => { rows += 1; console.log('row', show(plain(row))); }).on('end', () => { console.log('rows', rows); resolve(); });
  }),
  prepare: async (name, sql) => { prepared.delete(name); prepared.set(name, await call('prepare', sql)); },
  execute,
  long: execute,
  close: (name) => { prepared.get(name)?.close(); prepared.delete(name); },
  begin: () => call('beginTransaction'),
  commit: () => call('commit'),
  rollback: () => call('rollback'),
  charset: (charset) => run(`SET NAMES ${charset}`),
  use: (name) => run(`USE ${name}`),
  user: (user, database) => call('changeUser', { user, password, database }),
  reset: () => call('reset'),
  ping: () => call('ping'),
  warnings: () => run('SHOW WARNINGS'),
});
await call('end');
const refused = mysql.createConnection({ host, port: Number(port), user: 'script', password: 'wrong' });
await promisify(refused.connect.bind(refused))().catch((error) => console.log('error', error.errno, error.code));
refused.destroy();
console.log('end of script');
