// Plays the script with mariadb of npm: texts by query, prepared statements in the binary protocol.
import mariadb from 'mariadb';
import { failed, host, password, play, port, show } from './play.mjs';

// What MariaDB's extension of the protocol adds is left out, since the gateway does not speak it: which texts are JSON, which
// geometries are points (of NULL this client then makes a point without coordinates), rows by the hundred in one packet.
const connection = await mariadb.createConnection({
  host, port: Number(port), user: 'script', password, database: 'play', charset: 'utf8mb4', timezone: 'Z', multipleStatements: true,
  permitLocalInfile: true, rowsAsArray: true, metaAsArray: true, bigIntAsNumber: false, maxAllowedPacket: 64 << 20, autoJsonMap: false, bulk: false,
});
connection.on('error', failed);
const column = (c) => (c?.name ? [c.db(), c.schema(), c.table(), c.orgTable(), c.name(), c.orgName(), c.collation?.index, c.columnLength, c.columnType, c.type, c.flags, c.scale] : show(c));
const columns = (meta) => (Array.isArray(meta) ? meta.map(columns) : column(meta));

const withoutTypes = (row) => (Array.isArray(row) ? row.map((v) => (v?.type === 'Point' && !v.coordinates ? null : v)) : row);
const print = ([rows, meta]) => console.log('results', show(Array.isArray(rows) ? rows.map(withoutTypes) : rows), '\ncolumns', show(columns(meta)));
const run = async (sql) => {
  const result = await connection.query(sql);
  if (Array.isArray(result) && result.length === 2) print(result);
  else console.log('result', show(result));
};

const prepared = new Map();
const execute = async (name, values) => {
  if (!prepared.has(name)) return;
  const result = await prepared.get(name).execute(values);
  if (Array.isArray(result) && result.length === 2) print(result);
  else console.log('result', show(result));
};
await play({
  query: run,
  stream: async (sql) => {
    let rows = 0;
    const stream = connection.queryStream(sql);
    for await (const row of stream) { rows += 1; console.log('row', show(row)); }
    console.log('rows', rows);
  },
  prepare: async (name, sql) => { prepared.delete(name); prepared.set(name, await connection.prepare(sql)); },
  execute,
  long: execute,
  close: (name) => { prepared.get(name)?.close(); prepared.delete(name); },
  begin: () => connection.beginTransaction(),
  commit: () => connection.commit(),
  rollback: () => connection.rollback(),
  charset: (charset) => run(`SET NAMES ${charset}`),
  use: (name) => run(`USE ${name}`),
  user: (user, database) => connection.changeUser({ user, password, database }),
  reset: () => connection.reset(),
  ping: () => connection.ping(),
  warnings: () => run('SHOW WARNINGS'),
});
// Executions by the hundred that don't wait for each other's answers.
await connection.query('CREATE TABLE play.batch (id INT, word VARCHAR(20))');
console.log('batch', show(await connection.batch('INSERT INTO play.batch VALUES (?, ?)', Array.from({ length: 100 }, (_, i) => [i, i % 7 ? `w${i}` : null]))));
await run('SELECT COUNT(*), COUNT(word), MD5(GROUP_CONCAT(word ORDER BY id)) FROM play.batch');
await connection.end();
await mariadb.createConnection({ host, port: Number(port), user: 'script', password: 'wrong' })
  .catch((error) => console.log('error', error.errno, error.code));
console.log('end of script');
