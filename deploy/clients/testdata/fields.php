<?php
// The fields of the script.

function make(string $field): string
{
    $out = '';
    foreach (array_filter(explode('+', $field), 'strlen') as $piece) {
        [$kind, $value] = explode(':', $piece, 2);
        if ($kind === 'x') {
            $out .= hex2bin($value);
        } else {
            $base = $kind === 'g' ? '0123456789abcdef' : implode('', array_map('chr', range(0, 255)));
            $out .= substr(str_repeat($base, intdiv((int)$value, strlen($base)) + 1), 0, (int)$value);
        }
    }
    return $out;
}

function parameter(string $field): mixed
{
    $raw = make(substr($field, 2));
    return ['n' => null, 'i' => (int)$raw, 'd' => (float)$raw, 's' => $raw, 'b' => $raw][$field[0]];
}

function show(mixed $value): string
{
    if (is_string($value)) {
        return strlen($value) <= 300 ? 'string ' . bin2hex($value) : 'string of ' . strlen($value) . ' ' . sha1($value);
    }
    return gettype($value) . ' ' . var_export($value, true);
}
