"""Plays the script with a module of Python's DB API: dbapi.py MODULE HOST PORT SCRIPT."""

import hashlib
import importlib
import sys

module, host, port, script = sys.argv[1:]
db = importlib.import_module(module)
cursors = importlib.import_module(module + ".cursors")
CLIENT = importlib.import_module(module + ".constants.CLIENT")
ALL = bytes(range(256))


def make(field):
    """Bytes of a field of the script."""
    out = []
    for piece in filter(None, field.split("+")):
        kind, value = piece.split(":", 1)
        if kind == "x":
            out.append(bytes.fromhex(value))
        else:
            base, n = (b"0123456789abcdef" if kind == "g" else ALL), int(value)
            out.append((base * (n // len(base) + 1))[:n])
    return b"".join(out)


def parameter(field):
    kind, value = field.split("=", 1)
    raw = make(value)
    return {"n": lambda: None, "i": lambda: int(raw), "d": lambda: float(raw), "s": raw.decode, "b": lambda: raw}[kind]()


def show(value):
    if isinstance(value, (bytes, bytearray, str)):
        raw = value.encode() if isinstance(value, str) else bytes(value)
        text = raw.hex() if len(raw) <= 300 else f"{len(raw)} bytes {hashlib.sha1(raw).hexdigest()}"
        return f"{type(value).__name__} {text}"
    if isinstance(value, (set, frozenset)):
        return f"set {sorted(value)}"
    return f"{type(value).__name__} {value!r}"


def connect():
    options = {"init_command": None} if module == "pymysql" else {}
    if module == "pymysql":
        options["max_allowed_packet"] = 64 << 20
    return db.connect(host=host, port=int(port), user="script", password="Secret-1", database="play", charset="utf8mb4",
                      local_infile=True, autocommit=True, client_flag=CLIENT.MULTI_STATEMENTS, **options)


def failed(error):
    if isinstance(error, db.Error):
        print("error", type(error).__name__, [show(a) for a in error.args])
    else:
        print("error", type(error).__name__, str(error)[:200])


def run(query, args=None, cursorclass=None):
    """Prints all that comes of a statement."""
    cursor = connection.cursor(cursorclass) if cursorclass else connection.cursor()
    try:
        cursor.execute(query, args)
        while True:
            print("description", cursor.description)
            n = 0
            row = cursor.fetchone()
            while row is not None:
                n += 1
                print("row", ", ".join(show(v) for v in row))
                row = cursor.fetchone()
            print("rows", n, cursor.rowcount, "id", cursor.lastrowid, "warnings", getattr(cursor, "warning_count", None))
            if module == "MySQLdb":
                print("info", connection.info(), connection.affected_rows(), connection.insert_id(), connection.warning_count())
            if not cursor.nextset():
                break
    except Exception as e:
        failed(e)
    try:
        cursor.close()
    except Exception as e:
        failed(e)


connection = connect()
prepared = {}
for number, line in enumerate(open(script), 1):
    op, *fields = line.rstrip("\n").split("\t")
    print(">", number, line.rstrip("\n")[:300])
    try:
        if op == "query":
            query = make(fields[0]) if fields else b""
            run(query)
        elif op == "stream":
            run(make(fields[0]), cursorclass=cursors.SSCursor)
        elif op == "prepare":
            prepared[fields[0]] = make(fields[1]).decode().replace("%", "%%").replace("?", "%s")
        elif op in ("execute", "long", "cursor"):
            args = [parameter(f) for f in fields[1:]]
            if fields[0] in prepared:
                run(prepared[fields[0]], args, cursors.SSCursor if op == "cursor" else None)
        elif op == "close":
            prepared.pop(fields[0], None)
        elif op == "begin":
            connection.begin()
        elif op in ("commit", "rollback"):
            getattr(connection, op)()
        elif op == "autocommit":
            connection.autocommit(fields[0] == "1")
            print("autocommit", connection.get_autocommit())
        elif op == "use":
            connection.select_db(fields[0])
        elif op == "charset":
            (connection.set_charset if module == "pymysql" else connection.set_character_set)(fields[0])
            print("charset", connection.character_set_name())
        elif op == "ping":
            connection.ping()
        elif op == "warnings":
            print("warnings", connection.show_warnings())
        elif op == "user" and hasattr(connection, "change_user"):
            connection.change_user(fields[0], "Secret-1", fields[1])
        else:
            print("not played")
    except Exception as e:
        failed(e)
connection.close()
try:
    db.connect(host=host, port=int(port), user="script", password="wrong", database="play")
except db.Error as e:
    print("error", type(e).__name__, e.args[0])
print("end of script")
