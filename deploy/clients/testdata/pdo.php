<?php
// Plays the script with PDO: pdo.php native|emulated HOST PORT SCRIPT. Emulated: parameters are written into the text.
ini_set('memory_limit', '-1');
require __DIR__ . '/fields.php';
[, $mode, $host, $port, $script] = $argv;

$db = new PDO("mysql:host=$host;port=$port;dbname=play;charset=utf8mb4", 'script', 'Secret-1', [
    PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
    PDO::ATTR_EMULATE_PREPARES => $mode === 'emulated',
    PDO::MYSQL_ATTR_LOCAL_INFILE => true,
]);

function results(PDO $db, PDOStatement $s): void
{
    do {
        for ($i = 0; $i < $s->columnCount(); $i++) {
            print('field ' . json_encode($s->getColumnMeta($i)) . "\n");
        }
        $n = 0;
        while ($s->columnCount() && ($row = $s->fetch(PDO::FETCH_NUM)) !== false) {
            print('row ' . implode(', ', array_map('show', $row)) . "\n");
            $n++;
        }
        print("rows $n {$s->rowCount()} id {$db->lastInsertId()}\n");
    } while ($s->nextRowset());
}

$prepared = [];
foreach (file($script, FILE_IGNORE_NEW_LINES) as $number => $line) {
    $fields = explode("\t", $line);
    $op = array_shift($fields);
    print('> ' . ($number + 1) . ' ' . substr($line, 0, 300) . "\n");
    $s = null;
    try {
        switch ($op) {
            case 'query':
            case 'raw':
                $s = $db->query(make($fields[0] ?? ''));
                results($db, $s);
                break;
            case 'stream':
                $db->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, false);
                $s = $db->query(make($fields[0]));
                results($db, $s);
                break;
            case 'prepare':
                unset($prepared[$fields[0]]);
                $prepared[$fields[0]] = $db->prepare(make($fields[1]));
                break;
            case 'execute':
            case 'cursor':
            case 'long':
                $name = array_shift($fields);
                if (isset($prepared[$name])) {
                    foreach ($fields as $i => $f) {
                        $prepared[$name]->bindValue($i + 1, parameter($f), ['n' => PDO::PARAM_NULL, 'i' => PDO::PARAM_INT, 'd' => PDO::PARAM_STR, 's' => PDO::PARAM_STR, 'b' => PDO::PARAM_LOB][$f[0]]);
                    }
                    $prepared[$name]->execute();
                    results($db, $prepared[$name]);
                    $prepared[$name]->closeCursor();
                }
                break;
            case 'close':
                unset($prepared[$fields[0]]);
                break;
            case 'begin':
                var_dump($db->beginTransaction());
                break;
            case 'commit':
            case 'rollback':
                var_dump($op === 'commit' ? $db->commit() : $db->rollBack());
                break;
            case 'autocommit':
                var_dump($db->setAttribute(PDO::ATTR_AUTOCOMMIT, (int)$fields[0]));
                break;
            case 'use':
                $db->exec('USE ' . $fields[0]);
                break;
            case 'charset':
                $db->exec('SET NAMES ' . $fields[0]);
                break;
            case 'warnings':
                results($db, $db->query('SHOW WARNINGS'));
                break;
            default:
                print("not played\n");
        }
    } catch (Throwable $e) {
        print('error ' . get_class($e) . ' ' . $e->getMessage() . ' ' . json_encode($e->errorInfo ?? null) . "\n");
        if (isset($name, $prepared[$name])) {
            $prepared[$name]->closeCursor();
        }
    }
    $s?->closeCursor();
    $db->setAttribute(PDO::MYSQL_ATTR_USE_BUFFERED_QUERY, true);
    unset($name);
}
print("end of script\n");
