// Plays the script with mysql of npm, which writes parameters into the text.
import { promisify } from 'node:util';
import mysql from 'mysql';
import { failed, host, password, play, port, show } from './play.mjs';

const connection = mysql.createConnection({
  host, port: Number(port), user: 'script', password, database: 'play', charset: 'utf8mb4', timezone: 'Z', multipleStatements: true,
  supportBigNumbers: true, bigNumberStrings: true,
});
const call = (method, ...args) => promisify(connection[method].bind(connection))(...args);
const column = (c) => c && [c.catalog, c.db, c.table, c.orgTable, c.name, c.orgName, c.charsetNr, c.length, c.type, c.flags, c.decimals, c.zeroFill];
const columns = (fields) => (fields ?? []).map((f) => (Array.isArray(f) ? f.map(column) : column(f)));

const run = (sql, values) => new Promise((resolve) => {
  connection.query({ sql, values: values?.map((v) => (typeof v === 'bigint' ? mysql.raw(String(v)) : v)) }, (error, rows, fields) => {
    if (error) failed(error);
    console.log('results', show(rows), '\ncolumns', show(columns(fields)));
    resolve();
  });
});

const prepared = new Map();
await play({
  query: (sql) => run(sql),
  stream: (sql) => new Promise((resolve) => {
    connection.query(sql).on('error', failed).on('fields', (fields) => console.log('columns', show(columns(fields))))
      .on('result', (row) => console.log('row', show(row))).on('end', resolve);
  }),
  prepare: (name, sql) => prepared.set(name, sql),
  execute: (name, values) => run(prepared.get(name), values),
  long: (name, values) => run(prepared.get(name), values),
  close: (name) => prepared.delete(name),
  begin: () => call('beginTransaction'),
  commit: () => call('commit'),
  rollback: () => call('rollback'),
  charset: (charset) => call('changeUser', { charset: { latin1: 'LATIN1_SWEDISH_CI', utf8mb4: 'UTF8MB4_GENERAL_CI' }[charset] }),
  use: (name) => run(`USE ${name}`),
  user: (user, database) => call('changeUser', { user, password, database }),
  ping: () => call('ping'),
  warnings: () => run('SHOW WARNINGS'),
});
await call('end');
const refused = mysql.createConnection({ host, port: Number(port), user: 'script', password: 'wrong' });
await promisify(refused.connect.bind(refused))().catch((error) => console.log('error', error.errno, error.code));
refused.destroy();
console.log('end of script');
