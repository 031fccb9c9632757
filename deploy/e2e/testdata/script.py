"""Run by PyMySQL through the gateway and directly; the outputs must be equal."""

import datetime
import decimal
import hashlib
import sys

import pymysql
import pymysql.cursors
from pymysql.constants import CLIENT

host, port, user, password, schema = sys.argv[1:]
LARGE = 20 << 20


def connect(**options):
    return pymysql.connect(
        host=host, port=int(port), user=user, password=password, database=schema, charset="utf8mb4",
        local_infile=True, max_allowed_packet=64 << 20, client_flag=CLIENT.MULTI_STATEMENTS, **options)


def show(value):
    if isinstance(value, (bytes, str)) and len(value) > 1000:
        raw = value if isinstance(value, bytes) else value.encode()
        return f"{type(value).__name__} of {len(value)}: {hashlib.sha256(raw).hexdigest()}"
    return repr(value)


def run(cursor, query, args=None):
    print(">", show(query), show(args) if args else "")
    try:
        cursor.execute(query, args)
        while True:
            print("description", cursor.description)
            for row in cursor.fetchall():
                print("row", [show(v) for v in (row.values() if isinstance(row, dict) else row)])
            print("rows", cursor.rowcount, "id", cursor.lastrowid)
            if not cursor.nextset():
                break
    except pymysql.MySQLError as e:
        print("error", type(e).__name__, e.args)


connection = connect()
cursor = connection.cursor()
run(cursor, "DROP TABLE IF EXISTS py, py_load")
run(cursor, """CREATE TABLE py (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, amount DECIMAL(10, 3), ratio DOUBLE, word VARCHAR(50) UNIQUE,
    raw LONGBLOB, day DATE, clock TIME(3), moment DATETIME(6), bits BIT(9), doc JSON)""")
insert = "INSERT INTO py (amount, ratio, word, raw, day, clock, moment, bits, doc) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
run(cursor, insert, (
    decimal.Decimal("-1234567.891"), 0.1, "ünï 'quoted' \\ \N{GRINNING FACE}", bytes(range(256)), datetime.date(2024, 2, 29),
    datetime.timedelta(hours=-1, milliseconds=5), datetime.datetime(1999, 12, 31, 23, 59, 59, 999999), 257, '{"a": null}'))
run(cursor, insert, (None,) * 9)
run(cursor, "SELECT * FROM py")
run(cursor, "SELECT id, word, at, data FROM fixed")
connection.commit()
run(cursor, "SELECT id, word FROM fixed WHERE id = %s", (2,))
run(cursor, "UPDATE py SET ratio = 2 WHERE id = 1")
connection.rollback()
run(cursor, "SELECT ratio FROM py WHERE id = 1")
run(cursor, "SELECT 1; SELECT id FROM fixed; DO 0; SELECT 'last'")
run(cursor, "SELECT 1; SELECT * FROM nowhere; SELECT 3")
run(cursor, "SELECT * FROM nowhere")
run(cursor, "INSERT INTO py (id) VALUES (1)")
run(cursor, "SELEC 1")
run(cursor, "SELECT nothing FROM fixed")
run(cursor, insert, (None, None, "large", b"\x00\xff'\\" * (LARGE // 4), None, None, None, None, None))
run(cursor, "SELECT LENGTH(raw), raw FROM py WHERE word = 'large'")
connection.commit()

connection.autocommit(True)
run(cursor, "SELECT COUNT(*) FROM fixed")
cursor.executemany("INSERT INTO py (word) VALUES (%s)", [("many %d" % i,) for i in range(5)])
print("many", cursor.rowcount, cursor.lastrowid)
connection.begin()
run(cursor, "INSERT INTO py (word) VALUES ('in a transaction')")
run(cursor, "SELECT COUNT(*) FROM fixed")
connection.rollback()
run(cursor, "SELECT COUNT(*) FROM py WHERE word LIKE %s", ("%transaction",))
run(cursor, "CREATE TABLE py_load (id INT, word VARCHAR(50))")
run(cursor, "LOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE py_load CHARACTER SET utf8mb4")
run(cursor, "SELECT * FROM py_load")
run(cursor, "LOAD DATA LOCAL INFILE 'no-such-file.txt' INTO TABLE py_load")
run(cursor, "SELECT COUNT(*) FROM py_load")
connection.select_db("e2e_other")
run(cursor, "SELECT DATABASE()")
run(cursor, "SELECT * FROM fixed")
connection.select_db(schema)
run(cursor, "SELECT DATABASE(), COUNT(*) FROM fixed")
connection.ping(reconnect=False)
print("charset", connection.character_set_name(), "warnings", connection.show_warnings())
connection.set_charset("latin1")
run(cursor, "SELECT HEX(word), word FROM fixed WHERE id = 1")
connection.close()

streaming = connect(cursorclass=pymysql.cursors.SSDictCursor)
with streaming.cursor() as cursor:
    cursor.execute("SELECT seq, REPEAT('x', 1000) AS filler FROM seq_1_to_20000")
    print("streamed", sum(row["seq"] + len(row["filler"]) for row in cursor))
with streaming.cursor() as cursor:
    cursor.execute("SELECT seq FROM seq_1_to_100000, (SELECT COUNT(*) FROM fixed) AS f")
    print("first", cursor.fetchone(), "and the rest unread")
with streaming.cursor() as cursor:
    run(cursor, "SELECT id FROM fixed")
streaming.close()
try:
    password += "wrong"
    connect()
except pymysql.MySQLError as e:
    print("error", e.args[0])
print("end of script")
