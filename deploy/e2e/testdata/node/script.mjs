// Run by mysql2 through the gateway and directly; the outputs must be equal.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { promisify } from 'node:util';
import mysql from 'mysql2';

const [host, port, user, password, database, otherUser] = process.argv.slice(2);
const LARGE = 20 * 1024 * 1024;

const show = (value) => {
  if (value === undefined || value === null) return String(value);
  if (value instanceof Date) return `Date ${value.toISOString()}`;
  if (Buffer.isBuffer(value)) {
    return value.length > 300 ? `Buffer of ${value.length}: ${createHash('sha256').update(value).digest('hex')}` : `Buffer ${value.toString('hex')}`;
  }
  if (typeof value === 'string' && value.length > 300) {
    return `string of ${value.length}: ${createHash('sha256').update(value).digest('hex')}`;
  }
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (typeof value === 'object') {
    if ('affectedRows' in value) return showOK(value);
    return `{${Object.entries(value).map(([k, v]) => `${k}: ${show(v)}`).join(', ')}}`;
  }
  return `${typeof value} ${String(value)}`;
};

// showOK leaves out what session tracking adds, which the gateway does not offer: the changes, their flag, and how mysql2
// reads info. Without tracking it takes the length before the text for a part of it.
const showOK = ({ stateChanges, serverStatus, info, ...rest }) => show(Object.entries({
  ...rest, serverStatus: serverStatus & ~0x4000, info: info?.replace(/^.(?=Records|Rows)/, ''),
}));

const column = (c) => (Array.isArray(c) ? c.map(column) : c && {
  name: c.name, table: c.table, schema: c.schema, type: c.columnType, flags: c.flags, length: c.columnLength, charset: c.characterSet, decimals: c.decimals,
});

const connection = mysql.createConnection({
  host, port: Number(port), user, password, database, charset: 'utf8mb4', timezone: 'Z', multipleStatements: true,
  supportBigNumbers: true, bigNumberStrings: true, flags: ['+LOCAL_FILES'],
});
const call = (method) => promisify(connection[method].bind(connection));

// run prints all that comes back of a query (text) or execute (prepared).
const run = (method, sql, values) => new Promise((resolve) => {
  console.log('>', method, show(sql), show(values));
  const options = { sql, infileStreamFactory: () => createReadStream('rows.txt') };
  connection[method](options, values, (error, rows, fields) => {
    if (error) console.log('error', error.errno, error.code, error.sqlState, error.sqlMessage);
    else console.log(show(rows), '\nfields', show(Array.isArray(fields) ? fields.map(column) : undefined));
    resolve();
  });
});

await run('query', 'DROP TABLE IF EXISTS node, node_load');
await run('query', `CREATE TABLE node (id BIGINT AUTO_INCREMENT PRIMARY KEY, amount DECIMAL(10, 3), ratio DOUBLE, small SMALLINT, word VARCHAR(50) UNIQUE,
  raw LONGBLOB, day DATE, clock TIME(3), moment DATETIME(6), doc TEXT, flag BOOL)`);
const insert = 'INSERT INTO node (amount, ratio, small, word, raw, day, clock, moment, doc, flag) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
await run('execute', insert, ['-1.500', 0.1, -32768, "ünï 'quoted'", Buffer.from([0, 255, 39, 92, 10]), '2024-02-29', '-01:02:03.004', new Date(Date.UTC(1999, 11, 31, 23, 59, 59, 999)), '{"a": [1]}', true]);
await run('execute', insert, Array(10).fill(null));
await run('query', insert, [1.25, 1e300, 1, 'text', Buffer.from('abc'), null, '12:00', null, null, false]);
for (const method of ['query', 'execute']) {
  await run(method, 'SELECT * FROM node');
  await run(method, 'SELECT id, word, at, data FROM fixed');
  await run(method, 'SELECT id, word FROM fixed WHERE id = ? AND ? IS NULL', [2, null]);
  await run(method, 'SELECT ? AS a, ? AS b', ['text', null]);
  await run(method, 'SELECT * FROM nowhere');
  await run(method, 'SELEC 1');
  await run(method, 'SELECT nothing FROM fixed');
  await run(method, "INSERT INTO node (word) VALUES ('text')");
  await run(method, 'UPDATE node SET small = small + 1 WHERE id > ?', [1]);
  await run(method, 'SELECT 1; SELECT id FROM fixed; DO 0; SELECT 4');
  const word = `large ${method}`;
  await run(method, 'INSERT INTO node (word, raw) VALUES (?, ?)', [word, Buffer.alloc(LARGE, '\x00\xff\'\\', 'latin1')]);
  await run(method, 'SELECT LENGTH(raw), raw FROM node WHERE word = ?', [word]);
  await call('beginTransaction')();
  await run(method, 'INSERT INTO node (word) VALUES (?)', ['in a transaction']);
  await run(method, 'SELECT COUNT(*) AS n FROM fixed');
  await run(method, 'SELECT id, word FROM node WHERE word = ?', ['in a transaction']);
  await call('rollback')();
  await run(method, 'SELECT COUNT(*) AS n FROM node WHERE word = ?', ['in a transaction']);
}
await run('query', 'CREATE TABLE node_load (id INT, word VARCHAR(50))');
await run('query', "LOAD DATA LOCAL INFILE 'any' INTO TABLE node_load CHARACTER SET utf8mb4");
await run('query', 'SELECT * FROM node_load');

// A statement prepared once and executed with other types and after others.
const statement = await call('prepare')('SELECT ? AS value, f.id FROM fixed AS f WHERE f.id = ?');
const execute = promisify(statement.execute.bind(statement));
for (const values of [['text', 1], [5, 2], [null, 3], [Buffer.from('raw'), 1]]) {
  console.log('prepared', show(await execute(values)));
  await run('execute', 'SELECT id FROM node WHERE id = ?', [1]);
}
statement.close();

await run('query', "SET @x = 7, time_zone = '+02:00'");
await run('query', 'SELECT @x, @@time_zone, at FROM fixed WHERE id = 1');
await call('reset')();
await run('query', 'SELECT @x, @@time_zone = @@GLOBAL.time_zone AS zone, at FROM fixed WHERE id = 1');
await call('changeUser')({ user: otherUser, password, database: 'e2e_other' });
await run('query', 'SELECT USER() LIKE ? AS ok, DATABASE() AS db', [`${otherUser}@%`]);
await run('query', 'SELECT COUNT(*) AS n FROM fixed');
await run('execute', 'SELECT COUNT(*) AS n FROM e2e.fixed WHERE id > ?', [1]);
await call('changeUser')({ user, password, database });
await run('query', 'SELECT USER() LIKE ? AS ok, DATABASE() AS db, COUNT(*) AS n FROM fixed', [`${user}@%`]);
await call('ping')();
try {
  await call('changeUser')({ user, password: 'wrong', database });
} catch (error) {
  console.log('error', error.errno, error.code, error.sqlState);
}
connection.on('error', () => {}); // A refused change of user ends the session.
connection.destroy();
console.log('end of script');
