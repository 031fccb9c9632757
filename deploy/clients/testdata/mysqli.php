<?php
// Plays the script with mysqli: mysqli.php HOST PORT SCRIPT.
ini_set('memory_limit', '-1');
require __DIR__ . '/fields.php';
[, $host, $port, $script] = $argv;
mysqli_report(MYSQLI_REPORT_OFF);

function result(mysqli_result $r): void
{
    foreach ($r->fetch_fields() as $f) {
        print('field ' . json_encode([$f->name, $f->orgname, $f->table, $f->orgtable, $f->db, $f->charsetnr, $f->flags, $f->type, $f->decimals, $f->length]) . "\n");
    }
    $n = 0;
    while ($row = $r->fetch_row()) {
        print('row ' . implode(', ', array_map('show', $row)) . "\n");
        $n++;
    }
    print("rows $n\n");
    $r->free();
}

function status(object $of): void
{
    print("affected {$of->affected_rows} id {$of->insert_id} error {$of->errno} {$of->sqlstate} {$of->error}\n");
}

function results(mysqli $db, bool $stream): void
{
    do {
        $r = $stream ? $db->use_result() : $db->store_result();
        if ($r) {
            result($r);
        }
        status($db);
        print("warnings {$db->warning_count} info {$db->info} columns {$db->field_count}\n");
        $more = $db->more_results();
    } while ($more && $db->next_result());
    if ($more) {
        status($db);
    }
}

function execute(mysqli_stmt $s, string $op, array $fields): void
{
    $params = array_map('parameter', $fields);
    $types = '';
    $long = [];
    foreach ($fields as $i => $f) {
        $kind = $f[0];
        $types .= ['n' => 's', 'i' => 'i', 'd' => 'd', 's' => 's', 'b' => 's'][$kind];
        if ($op === 'long' && $kind !== 'n') {
            $types[$i] = 'b';
            $long[$i] = $params[$i];
            $params[$i] = null;
        }
    }
    // Bound once, as programs do: the second execution sends no types.
    static $bound = [];
    $key = spl_object_id($s);
    if (!$params) {
    } elseif (isset($bound[$key]) && $bound[$key][0] === $s && $bound[$key][1] === $types) {
        foreach ($params as $i => $p) {
            $bound[$key][2][$i] = $p;
        }
    } else {
        $bound[$key] = [$s, $types, $params];
        $s->bind_param($types, ...$bound[$key][2]);
    }
    foreach ($long as $i => $value) {
        foreach (str_split($value, 60000) as $chunk) {
            $s->send_long_data($i, $chunk);
        }
    }
    if (!$s->execute()) {
        status($s);
        return;
    }
    do {
        if ($s->field_count && $op !== 'cursor') {
            result($s->get_result());
        } elseif ($s->field_count) {
            $values = array_fill(0, $s->field_count, null);
            $refs = [];
            foreach ($values as $i => $_) {
                $refs[] = &$values[$i];
            }
            $s->bind_result(...$refs);
            while ($s->fetch()) {
                print('row ' . implode(', ', array_map('show', $values)) . "\n");
            }
            $s->free_result();
        }
        status($s);
    } while ($s->more_results() && $s->next_result());
    status($s);
}

$db = mysqli_init();
$db->options(MYSQLI_OPT_LOCAL_INFILE, 1);
if (!$db->real_connect($host, 'script', 'Secret-1', 'play', (int)$port)) {
    exit("connect: {$db->connect_error}\n");
}
$db->set_charset('utf8mb4');
$prepared = [];
$texts = [];
foreach (file($script, FILE_IGNORE_NEW_LINES) as $number => $line) {
    $fields = explode("\t", $line);
    $op = array_shift($fields);
    print('> ' . ($number + 1) . ' ' . substr($line, 0, 300) . "\n");
    try {
        switch ($op) {
            case 'query':
            case 'raw':
            case 'stream':
                if ($db->multi_query(make($fields[0] ?? ''))) {
                    results($db, $op === 'stream');
                } else {
                    status($db);
                }
                break;
            case 'prepare':
                unset($prepared[$fields[0]]);
                $texts[$fields[0]] = make($fields[1]);
                $s = $db->prepare($texts[$fields[0]]);
                if ($s) {
                    $prepared[$fields[0]] = $s;
                    print("prepared {$s->param_count} {$s->field_count}\n");
                } else {
                    status($db);
                }
                break;
            case 'execute':
            case 'cursor':
            case 'long':
                $name = array_shift($fields);
                if (isset($prepared[$name]) && $op === 'cursor') {
                    // A statement of its own: those with and without a cursor don't mix in this API.
                    $s = $db->prepare($texts[$name]);
                    $s->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
                    execute($s, $op, $fields);
                    $s->close();
                } elseif (isset($prepared[$name])) {
                    execute($prepared[$name], $op, $fields);
                }
                break;
            case 'close':
                if (isset($prepared[$fields[0]])) {
                    var_dump($prepared[$fields[0]]->close());
                    unset($prepared[$fields[0]]);
                }
                break;
            case 'begin':
                var_dump($db->begin_transaction());
                break;
            case 'commit':
            case 'rollback':
                var_dump($db->$op());
                break;
            case 'autocommit':
                var_dump($db->autocommit($fields[0] === '1'));
                break;
            case 'use':
                var_dump($db->select_db($fields[0]));
                status($db);
                break;
            case 'charset':
                var_dump($db->set_charset($fields[0]), $db->character_set_name());
                break;
            case 'ping':
                var_dump($db->ping(), strlen($db->stat()) > 0);
                break;
            case 'warnings':
                for ($w = $db->get_warnings(); $w; $w = $w->next() ? $w : null) {
                    print("warning {$w->errno} {$w->sqlstate} {$w->message}\n");
                }
                break;
            case 'user':
                var_dump($db->change_user($fields[0], 'Secret-1', $fields[1]));
                status($db);
                break;
            default:
                print("not played\n");
        }
    } catch (Throwable $e) {
        print('error ' . get_class($e) . ' ' . $e->getMessage() . "\n");
    }
}
$db->close();
print("end of script\n");
